/**
 * Clicks through the built site in headless Chromium, as a visitor would. Ends with "N passed, N failed". Run after
 * `npm run site:build`; words after it choose the tests whose names contain one of them. SLOWDOWN=6 gives each page a
 * processor that is six times slower: a test that does not wait for what it needs fails.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { obtain } from "../../test/runtimes/install.mjs";
import { cases } from "./cases.mjs";
import { serve } from "./serve.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
];
/** Milliseconds after which a click or a wait has failed. */
const PATIENCE = 60_000;
const SLOWDOWN = Number(process.env.SLOWDOWN ?? 1);

const { chromium } = createRequire(import.meta.url)(await obtain("playwright"));
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const site = await serve(join(root, "site/dist"), "/any/where/");
const folder = mkdtempSync(join(tmpdir(), "boxwright-site-"));
const browsers = new Map();

/** Returns a browser with more flags, opened once. */
async function browserWith(more) {
  const key = more.join(" ");
  if (!browsers.has(key))
    browsers.set(key, await chromium.launch({ executablePath, args: [...FLAGS, ...more] }));
  return browsers.get(key);
}

/** Returns a new page, slower by SLOWDOWN. To go somewhere waits until Vue listens: a key before that is lost. */
async function openPage(context) {
  const page = await context.newPage();
  const { goto } = page;
  page.goto = async (...given) => {
    const response = await goto.apply(page, given);
    await page.waitForFunction(() => document.querySelector("#app")?.__vue_app__);
    return response;
  };
  page.setDefaultTimeout(PATIENCE * SLOWDOWN);
  const session = await context.newCDPSession(page);
  if (SLOWDOWN > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  return page;
}

/** Runs one test on a page of its own. A request that leaves the site, and an error nobody expects, are failures. */
async function runCase({ run, flags = [], context: options = {}, allowsErrors = false }) {
  const browser = await browserWith(flags);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await openPage(context);
  const problems = [];
  page.on("pageerror", (error) => problems.push(`error in the page: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url()))
      problems.push(`left the site: ${request.url()}`);
  });
  try {
    await run({
      page,
      context,
      openPage: () => openPage(context),
      address: site.address,
      root,
      fixture: (name) => join(root, "test/fixtures", name),
      file: (name, bytes) => {
        writeFileSync(join(folder, name), bytes);
        return join(folder, name);
      },
      read: (name) => readFileSync(join(root, name)),
    });
    if (problems.length > 0 && !allowsErrors) throw new Error(problems.join("; "));
    if (site.missing.length > 0) throw new Error(`files that the site lacks: ${site.missing.join(", ")}`);
  } finally {
    site.missing.length = 0;
    await context.close();
  }
}

const words = process.argv.slice(2);
let [passed, failed] = [0, 0];
for (const test of cases) {
  if (words.length > 0 && !words.some((word) => test.name.includes(word))) continue;
  const start = performance.now();
  try {
    await runCase(test);
    passed++;
    console.log(`ok ${test.name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.error(`FAIL ${test.name}: ${error.message}`);
  }
}
for (const browser of browsers.values()) await browser.close();
await site.close();
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
