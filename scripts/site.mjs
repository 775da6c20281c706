/**
 * Builds the site (`npm run site:build`), or serves it for development (`npm run site`). The site has its own lockfile,
 * so that `npm ci` of the package stays quick. Missing or outdated packages of the site are installed.
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
