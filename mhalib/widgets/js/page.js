// Entry of the classic script of the site's lessons.
import { enlivenAll } from "./home.js";
import { VIEWS } from "./views/lessons.js";

enlivenAll(VIEWS);
