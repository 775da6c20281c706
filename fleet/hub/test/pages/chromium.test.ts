/** The pages in a real Chromium: keys, sessions, other origins, forms as people use them. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { addDevices } from "../../src/nouns/device.ts";
import { fromMenu, useChromium } from "../support/browser.ts";
import { LIST, password, startHub, type TestHub } from "../support/hub.ts";

describe.skipIf(inject("chromium") === undefined)("in Chromium", () => {
  const browsing = useChromium();
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startHub({ devices: ["Front door", "Loading dock"] });
  });
  afterAll(() => hub.stop());
  const signIn = (to = browsing.page): Promise<void> => browsing.signIn(hub, to);
  /** Back may end on the browser's own page, which says that the form would have to be sent again. */
  async function back(): Promise<string> {
    const { page } = browsing;
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
  const shownKey = async (): Promise<string> =>
    (await browsing.page.getByRole("group", { name: "Your new API key" }).textContent()) ?? "";

  it("signs in, creates a key, copies it, and the key works", async () => {
    const { page } = browsing;
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = await shownKey();
    expect(key).toMatch(/^hub_\w{12}_\w{38}$/);
    await page.locator("button[data-copy=api-key]").click();
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
    const { page } = browsing;
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
    const { page } = browsing;
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
    const { page } = browsing;
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    const before = await keyCount();
    await page.getByRole("button", { name: "Create API key" }).dblclick();
    expect((await hub.query(LIST, await shownKey())).status).toBe(200);
    expect(await keyCount()).toBe(before + 1);
  });

  it("adds, renames and removes devices, and shows hostile names as text", async () => {
    const { page } = browsing;
    await signIn();
    const evil = `<img src=x onerror="document.title='owned'">`;
    await page.getByLabel("Name of the new device").fill(evil);
    await page.getByRole("button", { name: "Add device" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "onerror" });
    await row.waitFor();
    expect(await page.title()).toBe("Devices - boxwright hub");
    await row.getByRole("link", { name: /^Rename/ }).click();
    await page.getByLabel("New name of").fill("Greenhouse");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Renamed to Greenhouse.").waitFor();
    const renamed = page.getByRole("listitem").filter({ hasText: "Greenhouse" });
    await renamed.getByRole("link", { name: /^Remove/ }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await page.getByText("Removed Greenhouse.").waitFor();
    expect(await renamed.count()).toBe(0);
    expect((await hub.query(LIST)).json.data.team.devices.nodes).toHaveLength(2);
  });

  it("signs out, and neither Back nor the old address shows a page of the team", async () => {
    const { page } = browsing;
    await signIn();
    const inside = page.url();
    await fromMenu(page, "Sign out");
    await page.waitForURL("**/sign-in**");
    expect(await back()).not.toContain("Front door");
    await page.goto(inside);
    expect(page.url()).toBe(`${hub.url}/sign-in`);
  });

  it("takes an invitation from link to membership, and changes the password", async () => {
    const { page } = browsing;
    await signIn();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByLabel("Email").fill("guest@example.org");
    await page.getByRole("button", { name: "Make a link" }).click();
    const link = (await page.getByRole("group", { name: "Link for guest@example.org" }).textContent())!;
    await fromMenu(page, "Sign out");
    await page.goto(link);
    await page.getByLabel("Choose a password").fill("short");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    expect(page.url()).toBe(link);
    await page.getByLabel("Choose a password").fill("a long enough password");
    await page.getByRole("button", { name: "Join and sign in" }).click();
    await page.getByText("Front door").first().waitFor();
    await fromMenu(page, "Account");
    await page.getByLabel("Current password").fill("a long enough password");
    await page.getByLabel("New password").fill("an even longer password");
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByText("The password is changed").waitFor();
    await page.getByRole("link", { name: "Team settings" }).click();
    expect(await page.getByRole("button", { name: "Create API key" }).count()).toBe(0);
  });

  it("works without JavaScript, but for copying", async () => {
    const own = await browsing.context.browser()!.newContext({ javaScriptEnabled: false });
    const plain = await own.newPage();
    await signIn(plain);
    await plain.getByLabel("Name of the new device").fill("By hand");
    await plain.getByRole("button", { name: "Add device" }).click();
    await plain.getByText("By hand").first().waitFor();
    await plain.getByRole("link", { name: "Team settings" }).click();
    await plain.getByRole("button", { name: "Create API key" }).click();
    const key = (await plain.getByRole("group", { name: "Your new API key" }).textContent())!;
    expect((await hub.query(LIST, key)).status).toBe(200);
    expect(await plain.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await plain.getByRole("link", { name: "Devices" }).click();
    await plain.getByRole("link", { name: "Remove By hand" }).click();
    await plain.getByRole("button", { name: "Remove it" }).click();
    await plain.getByText("Removed By hand.").waitFor();
    await fromMenu(plain, "Sign out");
    await plain.waitForURL("**/sign-in**");
    await own.close();
  });

  it("gives nothing to a page of another origin (6)", async () => {
    const { page, problems } = browsing;
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

  it("asks before it removes a device, and takes the removal back", async () => {
    const { page } = browsing;
    await signIn();
    const listed = async () => (await hub.query(LIST)).json.data.team.devices.nodes as { id: string; name: string }[];
    const before = await listed();
    await page.getByRole("link", { name: "Remove Front door" }).click();
    await page.getByText("Remove Front door?").waitFor();
    expect(await listed()).toEqual(before);
    await page.getByRole("link", { name: "Keep it" }).click();
    expect(await page.getByText("Remove Front door?").count()).toBe(0);
    await page.getByRole("link", { name: "Remove Front door" }).click();
    await page.getByRole("button", { name: "Remove it" }).click();
    await page.getByText("Removed Front door.").waitFor();
    expect(await listed()).toHaveLength(before.length - 1);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Front door is back.").waitFor();
    expect(await listed()).toEqual(before);
    // The message is told once.
    await page.reload();
    expect(await page.getByText("is back.").count()).toBe(0);
  });

  it("stays where it is in a long list: pages, search, renaming, adding, Back", async () => {
    const { page } = browsing;
    const many = await hub.makeTeam("Many", []);
    const names = Array.from({ length: 150 }, (_, i) => ({ name: `Camera ${i + 1}` }));
    await addDevices(hub.storage.db, Date.now(), many.team.id, 1000, names);
    await browsing.signIn(hub, page, many.admin.email);
    await page.getByText("150 devices, 1 to 100 on this page").waitFor();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByText("Page 2 of 2").waitFor();
    await page.getByRole("link", { name: "Rename Camera 120" }).click();
    await page.getByLabel("New name of").fill("Gate");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Renamed to Gate.").waitFor();
    expect(new URL(page.url()).search).toBe("?page=2");
    await page.getByLabel("Name of the new device").fill("The newest");
    await page.getByRole("button", { name: "Add device" }).click();
    await page.getByText("Added The newest.").waitFor();
    const row = page.getByRole("listitem").filter({ hasText: "The newest" });
    expect(await row.evaluate((element) => element.matches(":target"))).toBe(true);
    // The row and the message about it are both in sight, once the page has scrolled to its target.
    const isInSight = (element: Element): boolean => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    for (const seen of [row, page.getByText("Added The newest.")])
      await untilPasses(async () => expect(await seen.evaluate(isInSight)).toBe(true));
    await page.getByRole("link", { name: "Previous page" }).click();
    await page.getByLabel("Search by name or id").fill("gate");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("1 of 151 devices match").waitFor();
    await page.goBack();
    await page.getByText("Page 1 of 2").waitFor();
    // A page that the address names is the page that a colleague sees.
    await page.goto(`${hub.url}/teams/${many.team.id}/devices?q=camera&page=2`);
    await page.getByText("149 of 151 devices match").waitFor();
    await page.getByText("Page 2 of 2").waitFor();
  });

  it("answers Enter in the address bar after a form with the page of the form", async () => {
    const { page } = browsing;
    await signIn();
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = await shownKey();
    await page.goto(page.url());
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Team settings");
    expect(await page.content()).not.toContain(key.slice(17));
    await page.getByRole("link", { name: "Devices" }).click();
    await page.getByRole("link", { name: "Rename Front door" }).click();
    await page.getByLabel("New name of").fill("\u200b");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter a name that can be seen.").waitFor();
    await page.goto(page.url());
    expect(await page.getByLabel("New name of Front door").inputValue()).toBe("Front door");
  });

  it("helps with people: roles, a forgotten password, invitations that are cancelled or fail", async () => {
    const { page } = browsing;
    const user = await hub.makeUser("forgetful@example.org", hub.team.id, "member");
    await signIn();
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByText("The last administrator stays.").waitFor();
    await page.getByRole("button", { name: `Make administrator: ${user.email}` }).click();
    await page.getByText(`${user.email} is an administrator now.`).waitFor();
    await page.getByRole("button", { name: `Make member: ${user.email}` }).click();
    await page.getByText(`${user.email} is a member now.`).waitFor();
    await page.getByLabel("Email").fill(user.email);
    await page.getByLabel("Role").selectOption("admin");
    await page.getByRole("button", { name: "Make a link" }).click();
    await page.getByText("is in the team already.").waitFor();
    expect(await page.getByLabel("Email").inputValue()).toBe(user.email);
    expect(await page.getByLabel("Role").inputValue()).toBe("admin");
    await page.getByLabel("Email").fill("never@example.org");
    await page.getByRole("button", { name: "Make a link" }).click();
    await page.getByRole("button", { name: "Cancel the invitation of never@example.org" }).click();
    await page.getByText("The invitation of never@example.org is cancelled.").waitFor();
    await page.getByRole("button", { name: `Forgotten password of ${user.email}` }).click();
    const link = (await page.getByRole("group", { name: "Link to a new password" }).textContent())!;
    await fromMenu(page, "Sign out");
    await page.getByText("You are signed out.").waitFor();
    await page.goto(link);
    await page.getByLabel("Choose a password").fill("entirely new words here");
    await page.getByRole("button", { name: "Set the password and sign in" }).click();
    await page.getByText("The new password is set.").waitFor();
  });

  it("says who is signed in, has a mark and an icon, and copies the key and the curl line", async () => {
    const { page } = browsing;
    await signIn();
    expect(await page.locator("summary").getByText(hub.admin.email).isVisible()).toBe(true);
    expect(await page.getByRole("link", { name: "boxwright hub" }).isVisible()).toBe(true);
    const icon = await page.locator("link[rel=icon]").getAttribute("href");
    const answer = await page.request.get(hub.url + icon!);
    expect([answer.status(), answer.headers()["content-type"]]).toEqual([200, "image/svg+xml"]);
    const drawn = await page.locator(".brand img").evaluate((image: HTMLImageElement) => image.naturalWidth);
    expect(drawn).toBeGreaterThan(0);
    await page.getByRole("link", { name: "Team settings" }).click();
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.locator("button[data-copy=curl-line]").click();
    const line = await page.evaluate(() => navigator.clipboard.readText());
    expect(line).toMatch(/^curl http.*\/graphql -H "Authorization: Bearer \$HUB_API_KEY"/);
  });

  it("explains /graphql in the address bar", async () => {
    const { page } = browsing;
    const answer = await page.goto(`${hub.url}/graphql`);
    expect(answer?.status()).toBe(405);
    await page.getByText("This address answers programs").waitFor();
  });

  it("can be used with the keyboard alone", async () => {
    const { page } = browsing;
    await page.goto(`${hub.url}/sign-in`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("boxwright hub");
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
