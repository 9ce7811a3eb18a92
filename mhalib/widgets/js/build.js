// Builds the two bundles of mhalib/widgets/static (or of the folder named as argument).
import { build } from "esbuild";

const outdir = process.argv[2];
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", logLevel: "warning" };
await build({
  ...common,
  entryPoints: { widgets: "jupyter.js" },
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir,
});
await build({ ...common, entryPoints: { widgets: "page.js" }, format: "iife", outdir });
await build({ ...common, entryPoints: ["widgets.css"], target: "esnext", outdir });
