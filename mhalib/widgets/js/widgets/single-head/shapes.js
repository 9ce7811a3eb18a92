// Shapes of the head's pictures, as parts/picture.js takes them.

const LONGEST = 10; // characters of a token's name

export const short = (label) => ([...label].length > LONGEST ? `${[...label].slice(0, LONGEST - 1).join("")}…` : label);
export const text = (x, y, words, name = "") => ["text", { x, y, class: name }, words];
export const path = (d, name, more = {}) => ["path", { d, class: name, ...more }];
