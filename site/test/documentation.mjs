/** What a reader does in the documentation. */
import { equal, isTrue, readText } from "./steps.mjs";

export const documentation = [
  {
    name: "from the first page to a document, on to a family, and back, from any sub-path",
    async run({ page, address }) {
      await page.goto(address);
      isTrue((await readText(page, "h1")).includes("boxwright"), "the first page");
      await page.click(".VPHero >> text=Documentation");
      await page.waitForFunction(
        () => location.pathname.endsWith("overview.html") || location.pathname.endsWith("overview"),
      );
      await page.locator(".VPSidebar a", { hasText: "From a photo to detections" }).click();
      await page.waitForFunction(() =>
        document.querySelector("h1").textContent.includes("From a photo to detections"),
      );
      await page.locator(".VPSidebar a", { hasText: "All families" }).click();
      await page.locator(".VPSidebar a", { hasText: /^yolov8$/ }).click();
      await page.waitForFunction(() => document.querySelector("h1").textContent.includes("yolov8"));
      // A link of the frame leads to the right place from a page in a folder.
      await page.locator(".VPNavBar a", { hasText: "Playground" }).click();
      await page.waitForSelector(".playground h1");
      await page.goBack();
      await page.waitForFunction(() => document.querySelector("h1").textContent.includes("yolov8"));
      await page.reload();
      isTrue((await readText(page, "h1")).includes("yolov8"), "the page opens by its address too");
    },
  },
  {
    name: "on a phone the first touch opens the menu or the sidebar, and a key the search",
    context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    async run({ page, address }) {
      const open = () => page.goto(`${address}detect.html`);
      await open();
      await page.tap(".VPNavBarHamburger");
      await page.locator(".VPNavScreen a", { hasText: "Measure" }).waitFor();
      await open();
      await page.tap(".VPLocalNav .menu");
      await page.locator(".VPSidebar.open a", { hasText: "All families" }).tap();
      // The address changes first. The sidebar closes when the page is there: a touch before that would close it.
      await page.waitForFunction(() => document.querySelector("h1")?.textContent.includes("amilies"));
      await page.waitForFunction(() => document.querySelector(".VPSidebar.open") === null);
      await page.tap(".VPLocalNav .menu");
      await page.locator(".VPSidebar.open a", { hasText: /^yolov8$/ }).waitFor();
      await open();
      await page.keyboard.press("/");
      await page.waitForSelector("#localsearch-input");
    },
  },
  {
    name: "examples of families run in place and print what they say",
    async run({ page, address }) {
      for (const family of ["yolov8", "ssd", "detr"]) {
        await page.goto(`${address}families/${family}.html`);
        const live = page.locator("[data-live-example]").first();
        await live.scrollIntoViewIfNeeded();
        await page.waitForSelector("[data-live-example][data-ran=true]");
        const printed = (await live.locator("[data-printed]").innerText()).trim();
        const source = await (await page.request.get(`${address}families/${family}.md`)).text();
        const said = [...source.matchAll(/^\/\/ (.+)$/gm)].map(([, line]) => line);
        isTrue(printed !== "" && said.includes(printed), `${family} printed "${printed}"`);
      }
    },
  },
  {
    name: "types have pages, with links among them",
    async run({ page, address }) {
      await page.goto(`${address}reference/functions.html`);
      isTrue((await readText(page, "#name-createdecoder")).includes("createDecoder"), "createDecoder");
      const ids = new Set();
      for (const file of ["functions", "classes", "interfaces", "types", "variables"])
        for (const [, id] of (
          await (await page.request.get(`${address}reference/${file}.html`)).text()
        ).matchAll(/ id="(name-[^"]+)"/g))
          ids.add(`${file}.html#${id}`);
      const links = await page
        .locator(".vp-doc a[href*='#name-']")
        .evaluateAll((all) => all.map((a) => a.href.split("/").at(-1)));
      const broken = [...new Set(links)].filter((link) => !ids.has(link));
      equal(broken.join(", "), "", "links to types that are missing");
    },
  },
  {
    name: "search finds a page",
    async run({ page, address }) {
      await page.goto(`${address}overview.html`);
      await page.locator("#local-search button, .VPNavBarSearch button").first().click();
      await page.fill("#localsearch-input", "letterbox");
      // Enter opens the chosen result.
      await page.waitForSelector(".VPLocalSearchBox .result.selected");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => !location.pathname.endsWith("overview.html"));
    },
  },
  {
    name: "Markdown beside each page, and a list of the pages",
    async run({ page, address }) {
      const text = async (path) => {
        const response = await page.request.get(address + path);
        equal(response.status(), 200, path);
        return response.text();
      };
      isTrue((await text("detect.md")).startsWith("# From a photo"), "detect.md");
      const list = await text("llms.txt");
      const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
      isTrue(links.length > 60, `${links.length} pages in llms.txt`);
      for (const link of links) await text(link);
    },
  },
  {
    name: "every link of every page leads somewhere",
    async run({ page, address }) {
      const seen = new Set();
      const queue = [address];
      const broken = [];
      while (queue.length > 0) {
        const url = queue.pop();
        const bare = url.split("#")[0];
        if (seen.has(bare)) continue;
        seen.add(bare);
        const response = await page.request.get(bare);
        if (response.status() !== 200) broken.push(bare.slice(address.length));
        else if (/\/$|\.html$/.test(bare))
          for (const [, link] of (await response.text()).matchAll(/<a [^>]*href="([^"]+)"/g)) {
            const next = new URL(link.replaceAll("&amp;", "&"), bare);
            if (next.href.startsWith(address)) queue.push(next.href);
          }
      }
      equal(broken.join(", "), "", "links that lead nowhere");
      isTrue(seen.size > 80, `${seen.size} addresses`);
    },
  },
];
