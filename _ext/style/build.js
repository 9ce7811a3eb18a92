// One stylesheet of many, minified. Taken out are the theme's rules that no page uses, and those with `:has()`: for
// each element that the parser adds, a browser asks its ancestors for them again.
//   node build.js STATIC PAGES SHEET…    (a sheet of the book's own, which is kept whole, begins with "+")
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { transform } from "esbuild";
import postcss from "postcss";
import { PurgeCSS } from "purgecss";

const [folder, pages, ...sheets] = process.argv.slice(2);
const words = (text) => text.match(/[\w-]+/g) ?? [];
const files = (from, ending) =>
  readdirSync(from, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(from, name));
const used = new Set();
for (const page of files(pages, ".html")) {
  for (const tag of readFileSync(page, "utf8").match(/<[a-z][^>]*>/gi) ?? []) words(tag).forEach((word) => used.add(word));
}
for (const script of files(folder, ".js")) {
  const text = readFileSync(script, "utf8");
  if (text.length < 2e5) words(text).forEach((word) => used.add(word)); // larger: a model, an interpreter
}

const content = [{ raw: [...used].join(" "), extension: "txt" }];
const extractors = [{ extensions: ["txt"], extractor: (text) => text.split(" ") }];
const parts = [];
for (const sheet of sheets) {
  const name = sheet.replace(/^\+/, "");
  let css = readFileSync(join(folder, name), "utf8");
  if (name === sheet) {
    [{ css }] = await new PurgeCSS().purge({
      content,
      extractors,
      css: [{ raw: css }],
      // what only a later script or an element of the page as such says
      safelist: ["html", "body", ":root", "course-print", "dark", "light", "auto", "data-theme", "data-mode", "open"],
      variables: true,
      keyframes: true,
      fontFace: true,
    });
    const root = postcss.parse(css);
    root.walkRules((rule) => {
      rule.selectors = rule.selectors.filter((selector) => !selector.includes(":has("));
      if (!rule.selector) rule.remove();
    });
    css = root.toString();
  }
  css = css.replace(/@font-face\s*\{[^}]*Awesome[^}]*\}/g, ""); // every-page.css draws the icons
  // where its files are, seen from the one stylesheet
  parts.push(css.replace(/url\((["']?)(?!["']?(?:data:|#|\/))/g, `url($1${posix.join(posix.dirname(name), "/")}`));
}
const { code } = await transform(parts.join("\n"), { loader: "css", minify: true, charset: "utf8" });
writeFileSync(join(folder, "book.css"), code);
