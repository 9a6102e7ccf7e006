// Bundles the page into viewer.html, one file without references to others: npm run build.
import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { digest } from "./digest.mjs";

const bundle = async (entry) =>
  (await build({ entryPoints: [entry], bundle: true, minify: true, write: false, format: "iife", target: "es2020",
                 legalComments: "none", logLevel: "warning" })).outputFiles[0].text;
const licence = (name) => readFileSync(`node_modules/${name}/${existsSync(`node_modules/${name}/LICENSE`) ? "LICENSE" : "LICENSE.md"}`, "utf8").trim();
const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
const credits = ["three", "uplot", "gifenc"].map((name) => `${name} ${version(name)}\n\n${licence(name)}`).join("\n\n");

const page = readFileSync("src/page.html", "utf8")
  .replace("@DIGEST@", () => digest("."))
  .replace("@CREDITS@", () => credits.replaceAll("--", "- -"))
  .replace("@STYLE@", () => readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8") + readFileSync("src/style.css", "utf8"));
const script = (await bundle("src/main.js")).replaceAll("</script", "<\\/script");
writeFileSync("viewer.html", page.replace("@SCRIPT@", () => script));
