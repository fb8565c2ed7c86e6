// Builds what `horai report` puts into pages: one script and one style sheet, with their licences.

import { createHash } from "node:crypto";
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";

const into = "../src/horai/report/assets";
const bundled = ["uplot", "@dagrejs/dagre", "@dagrejs/graphlib"];

await mkdir(into, { recursive: true });
const common = { bundle: true, minify: true, legalComments: "none", charset: "utf8" };
await build({ ...common, entryPoints: ["src/main.js"], outfile: `${into}/page.js`, format: "iife", target: "es2022" });
await build({ ...common, entryPoints: ["src/page.css"], outfile: `${into}/page.css`, target: "es2022" });
await copyFile("src/page.html", `${into}/page.html`);

const notes = await Promise.all(
  bundled.map(async (name) => {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const licence = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    return `${name} ${version}\n\n${licence.trim()}\n`;
  }),
);
// A test tells by this whether somebody forgot to build.
const digest = createHash("sha256");
for (const name of [...(await readdir("src")).sort().map((one) => `src/${one}`), "package-lock.json"]) {
  digest.update(await readFile(name));
}
await writeFile(`${into}/sources.sha256`, `${digest.digest("hex")}\n`);

const rule = `\n${"-".repeat(80)}\n\n`;
await writeFile(`${into}/LICENSES.txt`, `page.js contains these packages.\n${rule}${notes.join(rule)}`);
