// Entry of the classic script of the site's page "By hand".
import { enlivenAll } from "./home.js";
import { BY_HAND } from "./views/by-hand.js";

enlivenAll(BY_HAND);
