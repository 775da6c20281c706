/** The pages of examples/, built by Vite and opened in headless Chromium with a photo and a webcam. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Vite from "vite";
import { afterAll, expect, test } from "vitest";
import { obtain } from "../runtimes/install.mjs";
import { chromium, describePages, isAtHand } from "../support/browser.ts";
import { type Row, CONFIG, HEIGHT, WIDTH, echoTflite } from "../support/echo-network.ts";
import { readFixture, tempFolder } from "../support/files.ts";
import { exampleUrl, packed, pngOf } from "./run-example.ts";

const folder = tempFolder();
let opened: Promise<Browser> | undefined;
/** Returns the browser of all tests, which opens with the first. Each test has a context of its own. */
const browserOfAll = (): Promise<Browser> => (opened ??= openBrowser());
afterAll(async () => (await opened)?.close());
const dog: Row = [51, 102, 153, 204, 230, 255];

/** The part of playwright that this test uses. */
interface Playwright {
  readonly chromium: { launch(options: object): Promise<Browser> };
}
interface Browser {
  newContext(): Promise<Context>;
  close(): Promise<void>;
}
interface Context {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}
interface Route {
  request(): { url(): string };
  fulfill(answer: { path: string } | { status: number }): Promise<void>;
}
interface Page {
  on(event: "request", listener: (request: { url(): string }) => void): void;
  on(event: "pageerror", listener: (error: Error) => void): void;
  goto(url: string): Promise<unknown>;
  setInputFiles(selector: string, path: string): Promise<void>;
  click(selector: string): Promise<void>;
  fill(selector: string, value: string): Promise<void>;
  route(pattern: string, answer: (route: Route) => Promise<void>): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  evaluate<T>(script: string): Promise<T>;
}

/** Vite as an example finds it. */
const vite = (await import(
  pathToFileURL(createRequire(exampleUrl("photo.mjs")).resolve("vite")).href
)) as typeof Vite;

async function openBrowser(): Promise<Browser> {
  const playwright = createRequire(import.meta.url)(await obtain("playwright")) as Playwright;
  const webcam = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
  const args = ["--no-sandbox", "--disable-gpu", ...webcam];
  return playwright.chromium.launch({ executablePath: chromium, args });
}

/**
 * Builds a page as its head says and opens it. Fails if the page throws, or fetches anything from elsewhere.
 * @param files what its public folder holds
 */
async function withPage(
  name: string,
  files: Record<string, Uint8Array>,
  use: (page: Page) => Promise<void>,
  more: Vite.InlineConfig = {},
): Promise<void> {
  const [publicDir, outDir] = [folder.path(`${name}-public`), folder.path(`${name}-dist`)];
  mkdirSync(publicDir, { recursive: true });
  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(publicDir, file), bytes);
  const config: Vite.InlineConfig = {
    root: fileURLToPath(exampleUrl(name)),
    configFile: false,
    logLevel: "error",
    publicDir,
    build: { outDir, emptyOutDir: true, target: "es2022" },
    preview: { port: 0, host: "127.0.0.1" },
    ...more,
  };
  await vite.build(config);
  const server = await vite.preview(config);
  const context = await (await browserOfAll()).newContext();
  try {
    const page = await context.newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => errors.push(error.message));
    const origin = server.resolvedUrls?.local[0] ?? "";
    await page.goto(origin);
    await use(page).catch((error: unknown) => {
      throw errors.length > 0 ? new Error(`in the page: ${errors.join("; ")}`) : error;
    });
    expect(errors).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(origin) && !/^(blob|data):/.test(url))).toEqual([]);
  } finally {
    await context.close();
    await server.close();
  }
}

/** Opens no-build/ as it stands. Its CDN is answered with the package as built, and with a model beside the page. */
async function withoutBuild(bytes: Uint8Array, use: (page: Page) => Promise<void>): Promise<void> {
  const packageOf = (name: string): string =>
    fileURLToPath(
      new URL(
        `node_modules/${name}/`,
        packed === undefined ? import.meta.url.replace(/test\/examples\/.*/, "") : exampleUrl(""),
      ),
    );
  const own =
    packed === undefined ? fileURLToPath(new URL("../../", import.meta.url)) : packageOf("boxwright");
  const places: readonly (readonly [RegExp, string])[] = [
    [/^https:\/\/cdn\.jsdelivr\.net\/npm\/boxwright\//, own],
    [/^https:\/\/cdn\.jsdelivr\.net\/npm\/onnxruntime-web@[\d.]+\//, packageOf("onnxruntime-web")],
    [/^http:\/\/localhost:9\//, fileURLToPath(exampleUrl("no-build/"))],
  ];
  const model = await folder.put("model.onnx", bytes);
  const context = await (await browserOfAll()).newContext();
  try {
    const page = await context.newPage();
    await page.route("**/*", async (route) => {
      const url = route.request().url();
      const [start, place] = places.find(([pattern]) => pattern.test(url)) ?? [];
      if (!start || place === undefined) return route.fulfill({ status: 404 });
      return route.fulfill({
        path: url.endsWith("/model.onnx") ? model : join(place, url.replace(start, "")),
      });
    });
    await page.goto("http://localhost:9/index.html");
    await use(page);
  } finally {
    await context.close();
  }
}

const expectStatus = (page: Page, text: string | RegExp): Promise<void> =>
  expect.poll(() => page.textContent("#status")).toMatch(text);

/** Expects the box of the dog to be drawn at its left edge: x 6, y 15. */
async function expectBox(page: Page): Promise<void> {
  expect(await page.evaluate("[canvas.width, canvas.height]")).toEqual([WIDTH, HEIGHT]);
  const pixel = await page.evaluate<number[]>("[...canvas.getContext('2d').getImageData(6, 15, 1, 1).data]");
  // Photos are black there.
  expect(pixel[0] + pixel[1] + pixel[2]).toBeGreaterThan(0);
}

describePages("pages of examples", () => {
  test("page: draws boxes on a photo, then on the webcam, then on a photo", async () => {
    const photo = await folder.put("dog.png", pngOf([dog]));
    const other = await folder.put("dogs.png", pngOf([dog, dog]));
    await withPage("page", { "model.onnx": readFixture("detect/network.onnx") }, async (page) => {
      await expectStatus(page, "Ready");
      await page.setInputFiles("#file", photo);
      await expectStatus(page, /^1 found in \d+ ms$/);
      await expectBox(page);
      await page.click("#webcam");
      await expect.poll(() => page.evaluate("canvas.width")).toBe(640);
      await page.setInputFiles("#file", other);
      await expectStatus(page, /^2 found/);
      await expectBox(page);
    });
  });

  test("web-worker: draws what a worker found, on a photo, then on the webcam", async () => {
    const photo = await folder.put("worked.png", pngOf([dog]));
    const model = { "model.onnx": readFixture("detect/network.onnx") };
    await withPage("web-worker", model, async (page) => {
      await expectStatus(page, "Ready");
      await page.setInputFiles("#file", photo);
      await expectStatus(page, /^1 found in \d+ ms$/);
      await expectBox(page);
      await page.click("#webcam");
      await expect.poll(() => page.evaluate("canvas.width")).toBe(640);
      await expectStatus(page, /^\d+ found in \d+ ms$/);
    });
  });

  test("no-build: imports from a CDN and draws boxes on a photo", async () => {
    const photo = await folder.put("one.png", pngOf([dog]));
    await withoutBuild(readFixture("detect/network.onnx"), async (page) => {
      await expectStatus(page, "Ready");
      await page.setInputFiles("#file", photo);
      await expectStatus(page, "1 found");
      await expectBox(page);
    });
  });

  test("no-build: a model that cannot be opened is told on the page", async () => {
    await withoutBuild(Buffer.from("no model"), (page) => expectStatus(page, /model/));
  });

  test("stackblitz: decodes a tensor, and again when the slider moves", async () => {
    // The folder is a package of its own, so a clone does not find boxwright from there.
    const built = fileURLToPath(new URL("../../dist/index.mjs", import.meta.url));
    const use = async (page: Page): Promise<void> => {
      await expectStatus(page, "3 found");
      await page.fill("#threshold", "0.5");
      await expectStatus(page, "2 found");
    };
    await withPage(
      "stackblitz",
      {},
      use,
      packed === undefined ? { resolve: { alias: { boxwright: built } } } : {},
    );
  });

  test.skipIf(!isAtHand("tflite"))(
    "tflite: int8 tensors (needs @tensorflow/tfjs-tflite)",
    async () => {
      const fetched = packed === undefined ? await obtain("tflite") : `${packed}/node_modules/`;
      const modules = fetched.replace(/(.*\/node_modules)\/.*/, "$1");
      cpSync(join(modules, "@tensorflow/tfjs-tflite/wasm"), folder.path("tflite-public/tflite"), {
        recursive: true,
      });
      const photo = await folder.put("planes.png", pngOf([dog], "NHWC"));
      const files = { "model.tflite": echoTflite("i8") };
      const use = async (page: Page): Promise<void> => {
        await expectStatus(page, "Ready");
        await page.setInputFiles("#file", photo);
        await expectStatus(page, "1 found: dog 0.90");
        await expectBox(page);
      };
      // The network of the test has no metadata, so its options are written into the program.
      const withOptions = {
        name: "options",
        transform: (code: string, id: string) =>
          id.endsWith("tflite/main.js")
            ? code.replace("const options = {", `const options = { ...${JSON.stringify(CONFIG)},`)
            : undefined,
      };
      await withPage("tflite", files, use, {
        plugins: [withOptions],
        resolve: { alias: { "@tensorflow/tfjs-tflite": join(modules, "@tensorflow/tfjs-tflite") } },
      });
    },
    120_000,
  );
});
