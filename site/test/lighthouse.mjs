/**
 * Judges built pages by Lighthouse, as a phone of its default settings sees them, gzipped as hosts send them:
 * `node site/test/lighthouse.mjs [page ...]`. The performance is that of this machine: run it when nothing else runs.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fetchProgram } from "../../test/runtimes/install.mjs";
import { serve } from "./serve.mjs";

const run = promisify(execFile);
const FLAGS = "--headless=new --no-sandbox --disable-gpu";
const METRICS = [
  "first-contentful-paint",
  "largest-contentful-paint",
  "total-blocking-time",
  "cumulative-layout-shift",
];

const program = await fetchProgram("lighthouse", {
  packages: ["lighthouse@12.8.2"],
  bin: "lighthouse/cli/index.js",
});
const site = await serve(fileURLToPath(new URL("../dist", import.meta.url)), "/", { compresses: true });
const pages = process.argv.slice(2);
try {
  for (const page of pages.length > 0 ? pages : ["playground.html", "index.html", "detect.html"]) {
    const kinds = "--only-categories=performance,accessibility,best-practices";
    const words = [site.address + page, "--quiet", "--output=json", kinds, `--chrome-flags=${FLAGS}`];
    const { stdout } = await run(process.execPath, [program, ...words], {
      env: { CHROME_PATH: "/usr/bin/chromium", ...process.env },
      maxBuffer: 1 << 28,
    });
    const { categories, audits } = JSON.parse(stdout);
    const scores = Object.values(categories).map(({ title, score }) => `${title} ${Math.round(100 * score)}`);
    const metrics = METRICS.map((name) => `${audits[name].title} ${audits[name].displayValue}`);
    console.log(`${page}: ${[...scores, ...metrics].join(", ")}`);
    for (const id of ["accessibility", "best-practices"])
      for (const { id: audit } of categories[id].auditRefs)
        if (audits[audit].score !== null && audits[audit].score < 1) console.log(`  ${audits[audit].title}`);
  }
} finally {
  await site.close();
}
