// Entry of the ES module that anywidget loads.
import { render } from "./home.js";

export default { render };
