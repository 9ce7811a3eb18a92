// Builds math/product.js from math/product.wat, and the bundles of mhalib/widgets/static (or of the folder
// named as argument).
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import wabt from "wabt";

const { buffer } = (await wabt()).parseWat("product.wat", readFileSync("math/product.wat", "utf8")).toBinary({});
const base64 = Buffer.from(buffer).toString("base64");
writeFileSync("math/product.js", `// Built from product.wat.\nexport default "${base64}";\n`);

const outdir = process.argv[2];
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", logLevel: "warning" };
await build({
  ...common,
  entryPoints: { widgets: "jupyter.js" },
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir,
});
await build({ ...common, entryPoints: { widgets: "page.js", "by-hand": "by-hand.js" }, format: "iife", outdir });
await build({ ...common, entryPoints: ["widgets.css"], target: "esnext", outdir });
