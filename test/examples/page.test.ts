/** The page of examples/, built by Vite and opened in headless Chromium with a photo and a webcam. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type InlineConfig, build, preview } from "vite";
import { describe, expect, test } from "vitest";
import { RUNTIMES, home, obtain } from "../runtimes/install.mjs";
import { type Row, HEIGHT, WIDTH } from "../support/echo-network.ts";
import { readFixture, tempFolder } from "../support/files.ts";
import { exampleUrl, pngOf } from "./run-example.ts";

const folder = tempFolder();
const dog: Row = [51, 102, 153, 204, 230, 255];

/** Builds the page as its head says, with the network as its model. */
async function buildPage(): Promise<InlineConfig> {
  const [publicDir, outDir] = [folder.path("public"), folder.path("dist")];
  mkdirSync(publicDir, { recursive: true });
  writeFileSync(join(publicDir, "model.onnx"), readFixture("detect/network.onnx"));
  const config: InlineConfig = {
    root: fileURLToPath(exampleUrl("page")),
    configFile: false,
    logLevel: "error",
    publicDir,
    build: { outDir, emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
    preview: { port: 0, host: "127.0.0.1" },
  };
  await build(config);
  return config;
}

/** The part of playwright that this test uses. */
interface Playwright {
  readonly chromium: { launch(options: object): Promise<Browser> };
}
interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}
interface Page {
  on(event: "request", listener: (request: { url(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  goto(url: string): Promise<unknown>;
  setInputFiles(selector: string, path: string): Promise<void>;
  click(selector: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  evaluate<T>(script: string): Promise<T>;
}

const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
// The driver is fetched by `npm run test:runtimes`, or here in CI.
const driver = join(home, `playwright-${RUNTIMES.playwright.packages.join()}`);
const canBrowse = existsSync(chromium) && (Boolean(process.env["CI"]) || existsSync(driver));

describe("page", () => {
  test.skipIf(!canBrowse)(
    "draws boxes on a photo, then on the webcam (needs Chromium and playwright)",
    async () => {
      const photo = await folder.put("dog.png", pngOf(dog));
      const other = await folder.put("dogs.png", pngOf(dog, dog));
      const server = await preview(await buildPage());
      const { chromium: browsers } = createRequire(import.meta.url)(await obtain("playwright")) as Playwright;
      const args = ["--no-sandbox", "--disable-gpu", "--use-fake-device-for-media-stream"];
      const browser = await browsers.launch({
        executablePath: chromium,
        args: [...args, "--use-fake-ui-for-media-stream"],
      });
      try {
        const page = await browser.newPage();
        const requests: string[] = [];
        const errors: string[] = [];
        page.on("request", (request) => requests.push(request.url()));
        page.on("pageerror", (error) => errors.push(error.message));
        const origin = server.resolvedUrls?.local[0] ?? "";
        await page.goto(origin);

        const expectStatus = (text: string | RegExp): Promise<void> =>
          expect.poll(() => page.textContent("#status"), { timeout: 30_000 }).toMatch(text);
        await expectStatus("Ready");
        await page.setInputFiles("#file", photo);
        await expectStatus(/^1 found in \d+ ms$/);
        const size = await page.evaluate<number[]>("[canvas.width, canvas.height]");
        expect(size).toEqual([WIDTH, HEIGHT]);
        // The box is drawn at its left edge: x 6, y 15. Nothing but red is in the photo.
        const [, green, blue] = await page.evaluate<number[]>(
          "[...canvas.getContext('2d').getImageData(6, 15, 1, 1).data]",
        );
        expect(green + blue).toBeGreaterThan(0);

        await page.click("#webcam");
        await expect.poll(() => page.evaluate("canvas.width"), { timeout: 30_000 }).toBe(640);
        await page.setInputFiles("#file", other);
        await expectStatus(/^2 found/);
        expect(await page.evaluate("canvas.width")).toBe(WIDTH);
        expect(errors).toEqual([]);
        // Nothing is fetched from elsewhere.
        expect(requests.filter((url) => !url.startsWith(origin) && !/^(blob|data):/.test(url))).toEqual([]);
      } finally {
        await browser.close();
        await server.close();
      }
    },
    120_000,
  );
});
