/**
 * A Chromium for the tests of one file, with a context for each test: cookies and storage of its own. An error of
 * script or policy fails the test.
 */
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from "vitest";
import { chromiumFlags } from "boxwright-service/testing/chromium";
import type { TestHub } from "./hub.ts";
import { password } from "./person.ts";

export interface Browsing {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors so far. A test that provokes some empties it. */
  readonly problems: string[];
  /** Signs in, and waits for the first page of a team. */
  signIn(hub: TestHub, to?: Page, email?: string): Promise<void>;
}

export function useChromium(): Browsing {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: inject("chromium")!, headless: true, args: chromiumFlags });
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    page = await context.newPage();
    problems.length = 0;
    page.setDefaultTimeout(100_000);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      // Ignore reports of a status 4xx on the console: tests cause them on purpose.
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });

  return {
    get context() {
      return context;
    },
    get page() {
      return page;
    },
    problems,
    async signIn(hub, to = page, email = hub.admin.email) {
      await to.goto(`${hub.url}/sign-in`);
      await to.getByLabel("Email").fill(email);
      await to.getByLabel("Password").fill(password);
      await to.getByRole("button", { name: "Sign in" }).click();
      await to.waitForURL(`${hub.url}/teams/**`);
    },
  };
}

/** Presses an entry of the menu of the person. */
export async function fromMenu(page: Page, name: "Account" | "Sign out"): Promise<void> {
  await page.locator("details.person summary").click();
  await page.getByRole(name === "Account" ? "link" : "button", { name }).click();
}
