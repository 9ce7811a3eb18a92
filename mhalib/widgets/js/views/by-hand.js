// The views of the page "By hand", which has a script of its own.

import byHand from "../widgets/by-hand/view.js";
import practice from "../widgets/practice/view.js";

export const BY_HAND = { "by-hand": byHand, practice };
