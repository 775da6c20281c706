/**
 * Builds the site or serves it for development: `npm run site:build`, `npm run site`. The site has a lockfile of its
 * own, so that `npm ci` of the package stays quick. Its packages are installed when they are missing or old.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL("../site/", import.meta.url));
const [command = "build", ...words] = process.argv.slice(2);

const run = (file, ...args) => execFileSync(file, args, { cwd: site, stdio: "inherit" });

const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
if (timeOf(join(site, "node_modules/.package-lock.json")) < timeOf(join(site, "package-lock.json")))
  run("npm", "ci", "--ignore-scripts");

run(process.execPath, "scripts/gather.mjs");
const vitepress = join(site, "node_modules/vitepress/bin/vitepress.js");
if (command === "build") run(process.execPath, vitepress, "build", ".");
else spawn(process.execPath, [vitepress, command, ".", ...words], { cwd: site, stdio: "inherit" });
