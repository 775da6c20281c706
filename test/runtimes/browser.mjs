/** A folder of bundles served on loopback to headless Chromium. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Missing } from "./install.mjs";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
// a browser that only looks at this page, on a machine that may have no network
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const TYPES = {
  html: "text/html",
  mjs: "text/javascript",
  js: "text/javascript",
  json: "application/json",
  wasm: "application/wasm",
};

/** Opens `main.mjs` of the folder in a page and waits for the result that it leaves behind. */
export async function openPage({ playwright, folder, app, csp, headers: more = {}, flags = [], extra }) {
  const html =
    '<!doctype html><meta charset="utf-8"><title>boxwright</title><script type="module" src="/main.mjs"></script>';
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://127.0.0.1").pathname;
    const headers = {
      ...more,
      "content-type": TYPES[path === "/" ? "html" : path.split(".").pop()] ?? "application/octet-stream",
    };
    if (csp !== undefined) headers["content-security-policy"] = csp;
    try {
      const body =
        path === "/"
          ? html
          : await readFile(
              extra[path] ?? (path === "/cases.json" ? join(app, "cases.json") : join(folder, path)),
            );
      response.writeHead(200, headers).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await visit({ playwright, address: `http://127.0.0.1:${server.address().port}/`, flags });
  } finally {
    server.close();
  }
}

/** Opens an address in Chromium and waits for the result that the page leaves behind. */
export async function visit({ playwright, address, flags = [] }) {
  const executablePath = process.env.CHROMIUM ?? CHROMIUM.find((f) => existsSync(f));
  if (executablePath === undefined)
    throw new Missing("got no Chromium, expected /usr/bin/chromium or one that CHROMIUM names");
  const browser = await playwright.chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
  try {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (e) => errors.push(e.message));
    page.on("requestfailed", (r) => errors.push(`${r.url()}: ${r.failure()?.errorText}`));
    await page.goto(address);
    // asked for again and again from here: a strict policy forbids what waitForFunction would do in the page
    for (let i = 0; i < 600; i++) {
      const result = await page.evaluate(() => globalThis.boxwrightResult ?? null);
      if (result !== null) return { ...result, browser: browser.version() };
      const error = await page.evaluate(() => globalThis.boxwrightError ?? null);
      if (error !== null || errors.length > 0) throw new Error(`in the page: ${error ?? errors.join("; ")}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error("got no result from the page");
  } finally {
    await browser.close();
  }
}
