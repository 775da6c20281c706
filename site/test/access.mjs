/** Every kind of view, by axe's rules, in light and dark, on a phone and on a wide screen; no view scrolls sideways. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { obtain } from "../../test/runtimes/install.mjs";
import { openPlayground, settled } from "./steps.mjs";

/** Opens the playground without its first example, and drops files there. */
const afterDrop =
  (...files) =>
  async ({ page, address, root }) => {
    await openPlayground(page, address);
    await page.click("text=Clear");
    await page.waitForSelector("[data-empty]");
    if (files.length === 0) return;
    await page.setInputFiles(
      "#pg-files",
      files.map((file) => join(root, file)),
    );
    // The fields are closed while files are read.
    await page.waitForSelector(".waiting, .picture, header [role=alert]");
    await page.waitForSelector(".status[data-busy=false]");
  };

const FASTEST_DET = "site/pages/public/models/FastestDet.onnx";
const COFFEE = "test/fixtures/photos/coffee.jpg";

/** How to get to each view. A name that ends in .html is a page. */
const VIEWS = [
  "index.html",
  "measure.html",
  "overview.html",
  "detect.html",
  "networks.html",
  "conformance.html",
  "performance.html",
  "families/index.html",
  "families/yolov8.html",
  "reference/functions.html",
  "404.html",
  ["the first example", ({ page, address }) => openPlayground(page, address)],
  [
    "masks",
    async ({ page, address }) => {
      await openPlayground(page, address);
      await page.click("[data-example=masks]");
      await settled(page, "masks");
    },
  ],
  ["an empty playground", afterDrop()],
  ["a photo alone", afterDrop(COFFEE)],
  ["a model alone", afterDrop(FASTEST_DET)],
  ["a model and a photo", afterDrop(FASTEST_DET, COFFEE)],
  ["a file that is refused", afterDrop("LICENSE", "site/package-lock.json")],
  [
    "the camera",
    async ({ page, address }) => {
      await openPlayground(page, address);
      await page.click("text=Camera or video");
      await page.waitForSelector("[data-live=camera]");
    },
  ],
];

/** Rules of axe that look at colours. The others say of a dark page what they say of a light one. */
const COLOURS = ["color-contrast", "link-in-text-block"];

/** Runs axe, which is in the page. Returns each rule that is broken, with the elements that break it. */
async function findViolations(page, rules) {
  const { violations } = await page.evaluate(
    (runOnly) => window.axe.run(document, { resultTypes: ["violations"], runOnly }),
    rules,
  );
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`,
  );
}

/** Returns how many pixels a page is wider than its window. */
const pixelsCut = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });

export const access = VIEWS.map((view) => {
  const [name, open] = Array.isArray(view) ? view : [view, ({ page, address }) => page.goto(address + view)];
  return {
    name: `accessible: ${name}`,
    async run(visit) {
      const { page } = visit;
      const axe = readFileSync(await obtain("axe"), "utf8");
      const found = [];
      await open(visit);
      await page.evaluate(axe);
      // A colour that changes slowly is judged half-way.
      await page.addStyleTag({ content: "* { transition: none !important }" });
      for (const colorScheme of ["light", "dark"])
        for (const width of [320, 375, 768, 1280]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          // Two frames: the layout is that of the new size.
          await page.evaluate(
            () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))),
          );
          const where = `${colorScheme}, ${width} px`;
          const cut = await pixelsCut(page);
          if (cut > 0) found.push(`${where}: ${cut} px are cut off`);
          if (width !== 320 && width !== 1280) continue;
          const rules = colorScheme === "dark" ? COLOURS : undefined;
          for (const violation of await findViolations(page, rules)) found.push(`${where}: ${violation}`);
        }
      if (found.length > 0) throw new Error(found.join("\n  "));
    },
  };
});
