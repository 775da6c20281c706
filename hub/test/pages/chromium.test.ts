/** The pages in a real Chromium. */
import { createServer, type Server } from "node:http";
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { invite } from "../../src/nouns/user.ts";
import { LIST, password, startHub, type TestHub } from "../support/hub.ts";
import { chromiumFlags } from "../support/chromium.ts";

// As in pages.test.ts: password work beside the other files has held up a sign-in for more than ten seconds.
vi.setConfig({ testTimeout: 240_000 });

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(inject("chromium") === undefined)("in Chromium", () => {
  let hub: TestHub;
  let profile: string;
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    hub = await startHub({ devices: ["Front door", "Loading dock"] });
  });
  afterAll(() => hub.stop());
  beforeEach(async () => {
    profile = mkdtempSync(join(tmpdir(), "hub-chromium-"));
    context = await chromium.launchPersistentContext(profile, {
      executablePath: inject("chromium")!,
      headless: true,
      args: chromiumFlags,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    page = context.pages()[0] ?? (await context.newPage());
    problems.length = 0;
    page.setDefaultTimeout(100_000);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      // A status that is no success is reported on the console too; those are asked for.
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
    expect(problems).toEqual([]);
  });

  async function signIn(to: Page = page, email = hub.admin.email): Promise<void> {
    await to.goto(`${hub.url}/sign-in`);
    await to.getByLabel("Email").fill(email);
    await to.getByLabel("Password").fill(password);
    await to.getByRole("button", { name: "Sign in" }).click();
    await to.waitForURL(`${hub.url}/teams/**`);
  }
  /** Back may end on the browser's own page, which says that the form would have to be sent again. */
  async function back(): Promise<string> {
    await page.goBack().catch(() => null);
    for (let i = 0; ; i++) {
      try {
        await page.waitForLoadState();
        return await page.content();
      } catch (error) {
        if (i > 20) throw error;
        await page.waitForTimeout(100);
      }
    }
  }
  const keyCount = async (): Promise<number> => (await hub.storage.db.all("SELECT id FROM api_keys")).length;
  const shownKey = (): Promise<string> => page.getByLabel("Your new API key").inputValue();

  it("signs in, creates a key, copies it, and the key works", async () => {
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = await shownKey();
    expect(key).toMatch(/^hub_\w{12}_\w{38}$/);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    expect((await hub.query(LIST, key)).json.data.team.devices.nodes).toHaveLength(2);
    expect(page.url()).not.toContain(key.slice(4, 16));
    // Nothing of it in what scripts and the next page can read.
    expect(
      await page.evaluate(
        () =>
          document.cookie + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href,
      ),
    ).not.toContain(key.slice(17));
  });

  it("shows no key after a reload, and makes no second one", async () => {
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = await shownKey();
    const before = await keyCount();
    const answer = await page.reload();
    expect(answer?.status()).toBe(409);
    expect(await page.content()).not.toContain(key.slice(17));
    await page.getByText("This form has made its key already").waitFor();
    expect(await keyCount()).toBe(before);
  });

  it("shows no key after Back and Forward", async () => {
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = await shownKey();
    const before = await keyCount();
    await page.getByRole("link", { name: "Back to team settings" }).click();
    await page.waitForURL("**/settings");
    expect(await back()).not.toContain(key.slice(17));
    await page.goto(`${hub.url}/account`);
    expect(await back()).not.toContain(key.slice(17));
    expect(await back()).not.toContain(key.slice(17));
    expect(await keyCount()).toBe(before);
  });

  it("makes one key of a double click, and shows it", async () => {
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    const before = await keyCount();
    await page.getByRole("button", { name: "Create API key" }).dblclick();
    expect((await hub.query(LIST, await shownKey())).status).toBe(200);
    expect(await keyCount()).toBe(before + 1);
  });

  it("adds, renames and removes devices, and shows hostile names as text", async () => {
    await signIn();
    const evil = `<img src=x onerror="document.title='owned'">`;
    await page.getByLabel("Name of the new device").fill(evil);
    await page.getByRole("button", { name: "Add device" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "onerror" });
    await row.waitFor();
    expect(await page.title()).toBe("Devices - Hub");
    await row.getByRole("textbox").fill("Greenhouse");
    await row.getByRole("button", { name: /^Rename/ }).click();
    const renamed = page.getByRole("listitem").filter({ hasText: "Greenhouse" });
    await renamed.waitFor();
    await renamed.getByRole("button", { name: /^Remove/ }).click();
    await page.waitForLoadState();
    expect(await renamed.count()).toBe(0);
    expect((await hub.query(LIST)).json.data.team.devices.nodes).toHaveLength(2);
  });

  it("signs out, and neither Back nor the old address shows a page of the team", async () => {
    await signIn();
    const inside = page.url();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in");
    expect(await back()).not.toContain("Front door");
    await page.goto(inside);
    expect(page.url()).toBe(`${hub.url}/sign-in`);
  });

  it("takes an invitation from link to membership, and changes the password", async () => {
    await signIn();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByLabel("Email").fill("guest@example.org");
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = await page.getByLabel("Link for guest@example.org").inputValue();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(link);
    await page.getByLabel("Choose a password").fill("short");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    expect(page.url()).toBe(link);
    await page.getByLabel("Choose a password").fill("a long enough password");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    await page.getByText("Front door").first().waitFor();
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByLabel("Current password").fill("a long enough password");
    await page.getByLabel("New password").fill("an even longer password");
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByText("The password is changed").waitFor();
    await page.getByRole("link", { name: "Team settings" }).click();
    expect(await page.getByRole("button", { name: "Create API key" }).count()).toBe(0);
  });

  it("works without JavaScript, but for copying", async () => {
    const bare = await context.browser()?.newContext({ javaScriptEnabled: false });
    const own: BrowserContext =
      bare ??
      (await chromium
        .launch({ executablePath: inject("chromium")!, args: chromiumFlags })
        .then((browser) => browser.newContext({ javaScriptEnabled: false })));
    const plain = await own.newPage();
    await signIn(plain);
    await plain.getByLabel("Name of the new device").fill("By hand");
    await plain.getByRole("button", { name: "Add device" }).click();
    await plain.getByText("By hand").first().waitFor();
    await plain.getByRole("link", { name: "Team settings" }).click();
    await plain.getByRole("button", { name: "Create API key" }).click();
    const key = await plain.getByLabel("Your new API key").inputValue();
    expect((await hub.query(LIST, key)).status).toBe(200);
    expect(await plain.getByRole("button", { name: "Copy" }).isVisible()).toBe(false);
    await plain.getByRole("link", { name: "Devices" }).click();
    await plain.getByRole("button", { name: "Remove By hand" }).click();
    await plain.getByRole("button", { name: "Sign out" }).click();
    await plain.waitForURL("**/sign-in");
    await own.browser()?.close();
  });

  it("gives nothing to a page of another origin (6)", async () => {
    const evil: Server = createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<title>evil</title>"),
    );
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    await signIn();
    const before = await keyCount();
    await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    const outcome = await page.evaluate(
      async ({ url, key, team, list }) => {
        const tries: Record<string, string> = {};
        const attempt = async (name: string, path: string, init: RequestInit): Promise<void> => {
          try {
            const answer = await fetch(url + path, init);
            tries[name] = `${answer.type} ${answer.status} ${await answer.text()}`;
          } catch (error) {
            tries[name] = String(error);
          }
        };
        await attempt("with a key", "/graphql", {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: list,
        });
        await attempt("simple request", "/graphql", {
          method: "POST",
          headers: { "content-type": "text/plain" },
          body: list,
          credentials: "include",
        });
        await attempt("opaque", `/teams/${team}/settings`, { mode: "no-cors", credentials: "include" });
        await attempt("read a page", `/teams/${team}/settings`, { credentials: "include" });
        return tries;
      },
      { url: hub.url, key: hub.key, team: hub.team.id, list: JSON.stringify({ query: LIST }) },
    );
    expect(outcome["with a key"]).toContain("Failed to fetch");
    expect(outcome["simple request"]).toContain("Failed to fetch");
    expect(outcome["read a page"]).toContain("Failed to fetch");
    expect(outcome["opaque"]).not.toContain("API key");
    // A form of that page, sent with the session if the browser gives it along.
    await page.setContent(
      `<form method="post" action="${hub.url}/teams/${hub.team.id}/keys"><button>go</button></form>`,
    );
    const [answer] = await Promise.all([page.waitForNavigation(), page.getByRole("button").click()]);
    expect(answer?.status()).toBe(403);
    await page.setContent(`<iframe src="${hub.url}/sign-in"></iframe>`);
    expect(await keyCount()).toBe(before);
    // The browser reports what it refused: that is what this page is here for.
    problems.length = 0;
    evil.close();
    evil.closeAllConnections();
  });

  it("is accessible by axe's rules, in light and dark, and fits a phone", async () => {
    const token = await invite(hub.storage.db, Date.now(), "test", undefined, hub.team.id, "axe@example.org", "member");
    const check = async (name: string): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const found = await page.evaluate(async (source) => {
          // The policy of the pages forbids eval and injected script elements; this is the debugger's way in.
          // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs in the page, and brings axe there
          const run = new Function(
            `${source}; return window.axe.run(document, { resultTypes: ["violations"] });`,
          ) as () => Promise<{
            violations: { id: string; nodes: { html: string }[] }[];
          }>;
          return (await run()).violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`,
          );
        }, axe);
        expect([name, colorScheme, found]).toEqual([name, colorScheme, []]);
      }
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([name, width, overflow]).toEqual([name, width, 0]);
        const small = await page.evaluate(() =>
          [...document.querySelectorAll("button, input:not([type=hidden]):not(.hidden), select")]
            .filter((el) => el.checkVisibility() && el.getBoundingClientRect().height < 40)
            .map((el) => el.outerHTML),
        );
        expect([name, small]).toEqual([name, []]);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    };
    // axe needs `new Function`, which our policy refuses, as it should: for this test alone it is switched off.
    const session = await context.newCDPSession(page);
    await session.send("Page.setBypassCSP", { enabled: true });
    await page.goto(`${hub.url}/sign-in`);
    await check("sign in");
    await page.goto(`${hub.url}/link/${token}`);
    await check("invitation");
    await signIn();
    await check("devices");
    for (const name of ["Team settings", "Members", "Account"]) {
      await page.getByRole("link", { name }).click();
      await check(name);
    }
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByLabel("Email").fill("second@example.org");
    await page.getByRole("button", { name: "Make a link" }).click();
    await check("invitation made");
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    await check("new key");
    await page.goto(`${hub.url}/nothing`);
    await check("not found");
  });

  it("can be used with the keyboard alone", async () => {
    await page.goto(`${hub.url}/sign-in`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Tab");
    await page.keyboard.type(hub.admin.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(password);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/devices");
    await page.getByLabel("Name of the new device").focus();
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
    expect(outline).toBe("solid");
  });
});
