/** Every page in Chromium: accessible by axe's rules, in light and dark; on a phone nothing is cut off or split. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { addDevices } from "../../src/nouns/device.ts";
import { renameTeam } from "../../src/nouns/team.ts";
import { invite } from "../../src/nouns/user.ts";
import { useChromium } from "../support/browser.ts";
import { Person, startHub, type TestHub } from "../support/hub.ts";
import { tour, tourNames, type TourStop } from "../support/tour.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Pixels of a phone that the header may take, of 568 to 667. */
const MAX_HEADER = 100;
const PHONES = [320, 375] as const;

/** Makes what the tour shows: two teams of one person, devices on two pages, an open invitation. */
async function prepare(hub: TestHub): Promise<TourStop> {
  const { db } = hub.storage;
  const { id: team } = hub.team;
  const other = await hub.makeTeam(tourNames.second, []);
  await renameTeam(db, { now: Date.now(), actor: "test", teamId: team }, tourNames.team);
  const more = Array.from({ length: 130 }, (_, i) => ({ name: `Camera ${i + 1}` }));
  await addDevices(db, Date.now(), team, 1000, [...tourNames.devices.map((name) => ({ name })), ...more]);
  const email = "northern.gate.operator@greenhouse.example.org";
  await hub.makeUser(email, team, "admin");
  const inOther = await invite(db, { now: Date.now(), actor: "test", teamId: other.team.id }, email, "admin");
  const joined = await new Person(hub.url).post(`/link/${inOther}`, { password: "correct horse battery" });
  expect(joined.status).toBe(303);
  const { email: otherMember } = await hub.makeUser("b.member@greenhouse.example.org", team, "member");
  const open = await invite(db, { now: Date.now(), actor: "test", teamId: team }, tourNames.invited, "member");
  return { url: hub.url, email, otherMember, team, emptyTeam: other.team.id, invitation: `${hub.url}/link/${open}` };
}

/** Rules of axe that look at colours. The others say of a dark page what they say of a light one. */
const COLOURS = ["color-contrast", "link-in-text-block"];

interface Axe {
  run(root: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** Runs axe in the page. Returns each rule that is broken, with the elements that break it. */
function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  return page.evaluate(
    async ([source, runOnly]) => {
      const opened = window as unknown as { axe?: Axe };
      // The policy of the pages forbids eval and injected script elements; this is the debugger's way in.
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it runs in the page, and brings axe there
      if (opened.axe === undefined) new Function(source)();
      const { violations } = await opened.axe!.run(document, { resultTypes: ["violations"], runOnly });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
    },
    [axe, rules] as const,
  );
}

/** Measures a page on a phone: what is wrong with it, as sentences. */
function faults(page: Page): Promise<string[]> {
  return page.evaluate((maxHeader) => {
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} px wide`);
    const header = document.querySelector("header")!.getBoundingClientRect().height;
    if (header > maxHeader) found.push(`the header is ${header} px high`);
    for (const element of document.querySelectorAll("button, .button, input:not([type=hidden]):not(.hidden), select"))
      if (element.checkVisibility() && (element.closest(".tick") ?? element).getBoundingClientRect().height < 40)
        found.push(`too small for a finger: ${element.outerHTML}`);
    // Keys and command lines have no words. All of them is shown, in as many lines as it takes.
    for (const element of document.querySelectorAll(".machine"))
      if (element.scrollWidth > element.clientWidth) found.push(`cut off: ${element.textContent}`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      if (node.parentElement?.checkVisibility() !== true || node.parentElement.closest(".machine") !== null) continue;
      for (const { index, 0: word } of node.textContent!.matchAll(/[\p{L}\p{N}]+/gu)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom)));
        if (lines.size > 1) found.push(`split: ${word}`);
      }
    }
    return found;
  }, MAX_HEADER);
}

describe.skipIf(inject("chromium") === undefined)("every page", () => {
  const browsing = useChromium();
  let hub: TestHub;
  let stop: TourStop;
  beforeAll(async () => {
    hub = await startHub({ devices: [] });
    stop = await prepare(hub);
  });
  afterAll(() => hub.stop());

  it("is accessible by axe's rules, in light and dark, and fits a phone without splitting a word", async () => {
    const { page, context } = browsing;
    // axe needs `new Function`, which our policy refuses, as it should: for this test alone it is switched off.
    const session = await context.newCDPSession(page);
    await session.send("Page.setBypassCSP", { enabled: true });
    const seen: string[] = [];
    await tour(page, stop, async (name) => {
      seen.push(name);
      for (const [colorScheme, rules] of [
        ["light", undefined],
        ["dark", COLOURS],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        expect([name, colorScheme, await violations(page, rules)]).toEqual([name, colorScheme, []]);
      }
      for (const width of PHONES) {
        await page.setViewportSize({ width, height: 640 });
        expect([name, width, await faults(page)]).toEqual([name, width, []]);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    });
    expect(seen.length).toBeGreaterThan(25);
    // Each of some seventy pages is measured four times.
  }, 900_000);

  it("would be found out: the measures see a split word, a wide page and a high header", async () => {
    const { page } = browsing;
    await page.goto(`${hub.url}/sign-in`);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await faults(page)).toEqual([]);
    await page.evaluate(() => {
      const spoil = (element: HTMLElement, css: Partial<CSSStyleDeclaration>): void =>
        void Object.assign(element.style, css);
      spoil(document.querySelector("label")!, { width: "3ch", overflowWrap: "anywhere" });
      spoil(document.querySelector("header")!, { minHeight: "200px", width: "400px" });
    });
    expect(await faults(page)).toEqual([
      expect.stringMatching(/^the page is 4\d\d px wide$/),
      expect.stringMatching(/^the header is 20\d px high$/),
      "split: Email",
    ]);
  });
});
