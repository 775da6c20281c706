/** Chromium for tests that open pages, driven by the playwright that `npm run test:runtimes` fetches. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { RUNTIMES, home } from "../runtimes/install.mjs";

export const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** True if a package of `RUNTIMES` is fetched, or a test may fetch it: in CI and in a run of the packed examples. */
export const isAtHand = (name: keyof typeof RUNTIMES): boolean =>
  Boolean(process.env["CI"]) ||
  process.env["BOXWRIGHT_EXAMPLES"] !== undefined ||
  existsSync(join(home, `${name}-${RUNTIMES[name].packages.join("+").replace(/[^\w.@+-]/g, "_")}`));

const missing = !existsSync(chromium)
  ? `no Chromium at ${chromium}: install it, or name one by CHROMIUM`
  : isAtHand("playwright")
    ? null
    : "playwright is not fetched: set CI=true, and the test fetches it";

/** `describe` for tests that open pages: skipped with a plain line where the browser is missing. */
export function describePages(name: string, tests: () => void): void {
  if (missing === null) describe(name, tests);
  else {
    console.log(`skipped: ${name}: ${missing}`);
    describe.skip(`${name} (${missing})`, () => undefined);
  }
}
