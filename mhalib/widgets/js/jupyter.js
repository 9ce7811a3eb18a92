// Entry of the ES module that anywidget loads.
import { render } from "./home.js";
import { BY_HAND } from "./views/by-hand.js";
import { VIEWS } from "./views/lessons.js";

export default { render: (home) => render({ ...VIEWS, ...BY_HAND }, home) };
