import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type Page, chromium } from "playwright-core";
import { until } from "boxwright-service/testing/wait";
import { chromiumFlags } from "boxwright-service/testing/chromium";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { createDecoderSync, toPacket } from "boxwright";
import { type TestHost, testHost } from "../support/host.ts";
import { detectionPacket } from "../support/frames.ts";
import { greyPng } from "../support/pixels.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const agentToken = "agent-token-0123456789";
const pageToken = "page-token-0123456789";
const config = { family: "yolov8", classes: 1, inputSize: [64, 64], labels: ["cat"] } as const;
const decoder = createDecoderSync(config);
/** The image is twice as wide as high: 64 x 64 input, letterboxed from 640 x 320. */
const frame = { width: 640, height: 320, resize: "letterbox" } as const;

/** Outputs with one box: centre and size in pixels of the input. */
function outputsOf(cx: number, cy: number, w: number, h: number): { output0: { data: Float32Array; dims: number[] } } {
  const data = new Float32Array(5 * 84);
  [cx, cy, w, h, 0.9].forEach((value, row) => (data[row * 84] = value));
  return { output0: { data, dims: [1, 5, 84] } };
}

interface Shown {
  readonly width: number;
  readonly height: number;
  /** Edges of what is coloured. The picture is grey. */
  readonly edges: {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  } | null;
}

/** Reads the canvas of a camera. Below the tag: rows from `from` on. */
const readCanvas = (page: Page, from = 0): Promise<Shown> =>
  page.evaluate((start) => {
    const canvas = document.querySelector("canvas")!;
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, width, height);
    let edges: { left: number; top: number; right: number; bottom: number } | null = null;
    for (let y = start; y < height; y++)
      for (let x = 0; x < width; x++) {
        const i = (y * width + x) * 4;
        // The line has a bright colour on a dark halo. Count the colour.
        const isColoured =
          Math.max(data[i]!, data[i + 1]!, data[i + 2]!) - Math.min(data[i]!, data[i + 1]!, data[i + 2]!) > 60;
        if (!isColoured) continue;
        edges ??= { left: x, top: y, right: x, bottom: y };
        edges.left = Math.min(edges.left, x);
        edges.top = Math.min(edges.top, y);
        edges.right = Math.max(edges.right, x);
        edges.bottom = Math.max(edges.bottom, y);
      }
    return { width, height, edges };
  }, from);

/** True if a pixel of the canvas, or one beside it, is coloured. The picture is grey. */
const isColoured = (page: Page, x: number, y: number): Promise<boolean> =>
  page.evaluate(
    ([left, top]) => {
      const { data } = document.querySelector("canvas")!.getContext("2d")!.getImageData(left!, top!, 3, 3);
      const pixels = Array.from({ length: 9 }, (_, i) => data.subarray(i * 4, i * 4 + 3));
      return pixels.some((pixel) => Math.max(...pixel) - Math.min(...pixel) > 60);
    },
    [x - 1, y - 1],
  );

describe.skipIf(!inject("chromium"))("the page in Chromium", () => {
  let browser: Browser;
  let page: Page;
  let host: TestHost;
  const problems: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: inject("chromium")!,
      args: chromiumFlags,
    });
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    host = await testHost({ agentToken, pageToken, address: "127.0.0.1", previewsPerSecond: 100 });
    const context = await browser.newContext({ httpCredentials: { username: "anybody", password: pageToken } });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    problems.length = requests.length = 0;
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("request", (request) => requests.push(request.url()));
  });
  afterEach(async () => {
    await page.context().close();
    await host.end();
    // The browser asks without a password first, and is told to.
    expect(problems.filter((text) => !text.includes("401"))).toEqual([]);
    // Nothing comes from elsewhere.
    expect(requests.filter((url) => !url.startsWith(host.url) && !url.startsWith("data:"))).toEqual([]);
  });

  const preview = (
    id: string,
    time: Date,
    bytes: Uint8Array,
    { subject = "door", isRecorded = false } = {},
  ): Promise<Response> =>
    fetch(`${host.url}/v1/previews`, {
      method: "POST",
      body: bytes as Uint8Array<ArrayBuffer>,
      headers: {
        Authorization: `Bearer ${agentToken}`,
        ...{ "ce-source": "/devices/1", "ce-subject": encodeURIComponent(subject), "ce-id": id },
        "ce-time": time.toISOString(),
        ...(isRecorded && { "ce-recorded": "true" }),
      },
    });
  const packet = (id: string, time: Date, outputs: ReturnType<typeof outputsOf>): Uint8Array =>
    toPacket(decoder, outputs, frame, { id, source: "/devices/1", subject: "door", time });
  const shown = (id: string, boxes: number | "none"): Promise<unknown> =>
    page.waitForSelector(`[data-frame="${id}"][data-boxes="${boxes}"]`);

  test("boxes stand at the right pixels of the picture of the same frame", async () => {
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    const [first, second] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-01-01T00:00:01Z")];
    // The input shows the image at y 16 to 48, a tenth of its size. Box: x 16..48, y 24..44 of the input.
    await host.post(packet("frame-1", first, outputsOf(32, 34, 32, 20)));
    // A newer frame has its box elsewhere. Its picture is not there yet.
    await host.post(packet("frame-2", second, outputsOf(10, 24, 8, 8)));
    await preview("frame-1", first, greyPng(320, 160));
    await page.goto(host.url);
    await shown("frame-1", 1);
    const { width, height, edges } = await readCanvas(page, 50);
    expect([width, height]).toEqual([320, 160]);
    // In the picture of 320 x 160: x 80..240, y 40..140. The line is 1.5 pixels wide and stands on the edge.
    for (const [found, expected] of [
      [edges!.left, 80],
      [edges!.right, 240],
      [edges!.bottom, 140],
    ] as const)
      expect(Math.abs(found - expected)).toBeLessThanOrEqual(2);

    await preview("frame-2", second, greyPng(320, 160));
    await shown("frame-2", 1);
    // x 6..14, y 20..28 of the input: x 30..70, y 20..60 of the picture.
    const moved = await readCanvas(page, 45);
    for (const [found, expected] of [
      [moved.edges!.left, 30],
      [moved.edges!.right, 70],
      [moved.edges!.bottom, 60],
    ] as const)
      expect(Math.abs(found - expected)).toBeLessThanOrEqual(2);
  });

  test("the canvas is scaled as a whole: boxes keep their place whatever its shape", async () => {
    const time = new Date("2026-01-01T00:00:00Z");
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    await host.post(packet("frame-1", time, outputsOf(32, 34, 32, 20)));
    await preview("frame-1", time, greyPng(320, 160));
    await page.setViewportSize({ width: 700, height: 700 });
    await page.goto(host.url);
    await shown("frame-1", 1);
    const box = (await page.locator("canvas").boundingBox())!;
    const { PNG } = { PNG: await page.locator("canvas").screenshot() };
    // Read what the screen shows, by way of another canvas.
    const edges = await page.evaluate(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      const context = canvas.getContext("2d")!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const xs: number[] = [];
      const from = Math.round(canvas.height * 0.6);
      for (let y = from; y < canvas.height; y++)
        for (let x = 0; x < canvas.width; x++) {
          const i = (y * canvas.width + x) * 4;
          if (Math.max(data[i]!, data[i + 1]!, data[i + 2]!) - Math.min(data[i]!, data[i + 1]!, data[i + 2]!) > 60)
            xs.push(x);
        }
      return { left: Math.min(...xs), right: Math.max(...xs) };
    }, PNG.toString("base64"));
    // object-fit: contain. The picture is 2:1 and the canvas 16:9, so the picture has its full width.
    expect(Math.abs(edges.left - (box.width * 80) / 320)).toBeLessThanOrEqual(4);
    expect(Math.abs(edges.right - (box.width * 240) / 320)).toBeLessThanOrEqual(4);
  });

  test("a picture whose frame is not stored yet has no boxes, and gets them when the frame comes", async () => {
    const time = new Date("2026-01-01T00:00:00Z");
    await preview("frame-1", time, greyPng(320, 160));
    await page.goto(host.url);
    await shown("frame-1", "none");
    expect((await readCanvas(page)).edges).toBeNull();
    expect(await page.textContent(".camera p")).toContain("not decoded yet");
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    await host.post(packet("frame-1", time, outputsOf(32, 34, 32, 20)));
    await shown("frame-1", 1);
    expect((await readCanvas(page, 50)).edges).not.toBeNull();
  });

  test("photos: the last pictures stand in a strip, one is chosen by a click, and there is no latency", async () => {
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    const names = ["photo-1", "photo-2", "photo-3"];
    for (const [n, name] of names.entries()) {
      // Photos of today: a live camera could be as late.
      const time = new Date(Date.now() - 60_000 + n * 1000);
      await host.post(packet(name, time, outputsOf(32, 34, 32, 20)));
      expect((await preview(name, time, greyPng(320, 160), { isRecorded: true })).status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await page.goto(host.url);
    await shown("photo-3", 1);
    await page.waitForFunction(() => document.querySelectorAll(".strip button").length === 3);
    expect(await page.textContent(".camera dl")).not.toContain("latency");
    await page.click(".strip button:last-child");
    await shown("photo-1", 1);
    expect((await readCanvas(page, 50)).edges).not.toBeNull();
    expect(await page.getAttribute(".strip button:last-child", "aria-pressed")).toBe("true");

    // A new photo joins the strip and does not take the place of the chosen one, nor the focus.
    const time = new Date();
    await host.post(packet("photo-4", time, outputsOf(32, 34, 32, 20)));
    await preview("photo-4", time, greyPng(320, 160), { isRecorded: true });
    await page.waitForFunction(() => document.querySelectorAll(".strip button").length === 4);
    await shown("photo-1", 1);
    await page.click(".strip button:first-child");
    await shown("photo-4", 1);

    // The folder has ended an hour ago: it is not silent. A photo that is sent again stands in the strip once.
    await host.db.write((tx) => tx.all("UPDATE cameras SET stored_at = stored_at - 3600000"));
    await new Promise((resolve) => setTimeout(resolve, 15));
    await preview("photo-4", time, greyPng(320, 160), { isRecorded: true });
    await page.waitForFunction(() => document.querySelector(".arrival")!.textContent === "arrived 60 min ago");
    expect(await page.locator(".strip button").count()).toBe(4);
    expect(await page.locator(".camera.silent").count()).toBe(0);
  });

  test("a frame of years ago has no latency, one of a minute ago has", async () => {
    for (const [subject, age] of [
      ["album", 2396 * 86_400_000],
      ["door", 60_000],
    ] as const)
      await host.post(detectionPacket(0, { subject, id: subject, time: new Date(Date.now() - age).toISOString() }));
    await page.goto(host.url);
    await page.waitForFunction(() => document.querySelectorAll(".camera h2").length === 2);
    const counts = await page.locator(".camera dl").allTextContents();
    expect(counts[0]).not.toContain("latency");
    expect(counts[0]).toContain("captured2396 days before");
    expect(counts[1]).toMatch(/latency6\d\.\d s/);
    expect(await page.locator(".strip:visible").count()).toBe(0);
  });

  test("keypoints have their skeleton, and an oriented box stands turned", async () => {
    /** Sends the tensor of a network with one detection, by its rows of values. */
    const send = async (id: string, given: object, values: readonly number[]): Promise<void> => {
      const config = { family: "yolov8", classes: 1, inputSize: [64, 64], labels: ["thing"], ...given } as const;
      // Give each frame another time: a picture may show the boxes of any frame with the same time.
      const time = new Date(id === "pose" ? "2026-01-01T00:00:00Z" : "2026-01-01T00:00:01Z");
      const own = createDecoderSync(config);
      await host.putConfig(own.configHash!, JSON.stringify({ config }));
      const data = new Float32Array(values.length * 84);
      values.forEach((value, row) => (data[row * 84] = value));
      const outputs = { output0: { data, dims: [1, values.length, 84] } };
      const about = { id, source: "/devices/1", subject: "door", time };
      // The picture first: a card without one shows the boxes on a blank ground of the frame's own size.
      await preview(id, time, greyPng(320, 160));
      expect((await host.post(toPacket(own, outputs, frame, about))).status).toBe(204);
    };
    await page.goto(host.url);
    // The picture has five pixels for one of the input, and begins at y 16. Shoulders: (20, 34) and (44, 34).
    const points = Array.from({ length: 17 }, (_, i) =>
      i === 5 ? [20, 34, 0.9] : i === 6 ? [44, 34, 0.9] : [0, 0, 0],
    );
    await send("pose", { task: "pose", keypoints: [17, 3] }, [32, 33, 32, 26, 0.9, ...points.flat()]);
    await shown("pose", 1);
    for (const x of [100, 160, 220]) expect(await isColoured(page, x, 90), `shoulders at ${x}`).toBe(true);
    for (const y of [70, 110]) expect(await isColoured(page, 160, y), `beside the shoulders, ${y}`).toBe(false);

    // Sides of 24 and 12 around (32, 32), turned by 30 degrees clockwise.
    await send("oriented", { task: "oriented" }, [32, 32, 24, 12, 0.9, Math.PI / 6]);
    await shown("oriented", 1);
    expect(await isColoured(page, 212, 110), "the middle of the right side").toBe(true);
    expect(await isColoured(page, 108, 50), "the middle of the left side").toBe(true);
    expect(await isColoured(page, 227, 136), "a corner of the upright box around it").toBe(false);
  });

  test("an id that differs is matched by the time of capture", async () => {
    const time = new Date("2026-01-01T00:00:00.123Z");
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    await host.post(packet("frame-1", time, outputsOf(32, 34, 32, 20)));
    await preview("picture-1", time, greyPng(320, 160));
    await page.goto(host.url);
    await shown("picture-1", 1);
  });

  test("counts, names as text, and cameras without pictures", async () => {
    const subject = "<img src=x onerror=alert(1)>";
    for (const n of [0, 1, 3]) await host.post(detectionPacket(n, { subject }));
    await host.post(detectionPacket(3, { subject }));
    await host.post(new Uint8Array(3));
    await page.goto(host.url);
    await page.waitForSelector(".camera h2");
    expect(await page.textContent(".camera h2")).toBe(`${subject} (/devices/1)`);
    await page.waitForSelector(".camera[data-boxes]");
    expect(await page.textContent(".camera dl")).toMatch(/frames3.*missing1/);
    expect(await page.textContent(".camera p")).toContain("without a picture");
    expect(await page.textContent("#totals")).toMatch(/received5stored3duplicates1refused1/);
    expect(await page.textContent("#fleet")).toBe("cameras1frames3detections9");
    expect(await page.textContent("#state")).toBe("live");
  });

  test("the page of a source shows its cameras and those below it, and no head in a frame", async () => {
    const sources = ["device:a1", "device:a1/yard", "device:a12", "/devices/1"];
    for (const [n, source] of sources.entries()) await host.post(detectionPacket(n, { source }));
    await page.goto(`${host.url}/?source=${encodeURIComponent("device:a1")}`);
    await page.waitForSelector(".camera");
    const titles = (): Promise<string[]> => page.locator(".camera h2").allTextContents();
    expect(await titles()).toEqual(["door (device:a1)", "door (device:a1/yard)"]);
    expect(await page.isVisible("header")).toBe(true);
    expect(await page.title()).toContain("device:a1");
    await page.click("text=show all");
    await page.waitForFunction((all) => document.querySelectorAll(".camera").length === all, sources.length);
    await page.goto(`${host.url}/?source=device:a12&framed`);
    await page.waitForSelector(".camera");
    expect(await titles()).toEqual(["door (device:a12)"]);
    expect(await page.isVisible("header")).toBe(false);
    // The name that the device has in its hub, with the id beside.
    await host.db.write((tx) => tx.all("INSERT INTO device_names (source, name) VALUES ('device:a12', 'Gate <b>')"));
    await page.goto(`${host.url}/?source=device:a12`);
    await page.waitForFunction(() => document.querySelector("#device")!.textContent === "Gate <b> (device:a12)");
    expect(await titles()).toEqual(["door (Gate <b>, device:a12)"]);
  });

  test("a camera has a view: steps through stored frames, by label, a timeline, events, zoom", async () => {
    const at = (minute: number): Date => new Date(Date.now() - minute * 60_000);
    const box = outputsOf(32, 34, 32, 20);
    const empty = outputsOf(0, 0, 0, 0);
    empty.output0.data.fill(0);
    await host.putConfig(decoder.configHash!, JSON.stringify({ config }));
    for (const [id, minute, outputs] of [
      ["cat-1", 50, box],
      ["cat-2", 40, box],
      ["none-1", 30, empty],
      ["none-2", 1, empty],
    ] as const)
      expect((await host.post(packet(id, at(minute), outputs))).status).toBe(204);
    await page.goto(host.url);
    // The way from the list to the view: the title of the card.
    await page.click(".camera h2 a");
    const drawn = (id: string): Promise<unknown> => page.waitForSelector(`.stage [data-frame="${id}"]`);
    await drawn("none-2");
    await page.click("text=earlier frame");
    await drawn("none-1");
    expect(await page.textContent(".caption")).toContain("nothing seen");
    await page.click("text=earlier frame");
    await drawn("cat-2");
    expect(await page.textContent(".caption")).toContain("1 box: 1 × cat · the picture is not kept");
    expect((await readCanvas(page, 50)).edges).not.toBeNull();
    await page.getByRole("button", { name: "Live" }).click();
    await drawn("none-2");
    await page.click("text=later frame");
    await page.waitForFunction(() => document.querySelector(".said")?.textContent === "There is no later frame.");

    // An event leads to its first frame. From there, steps go through frames with its label.
    await page.waitForSelector(".events li:nth-child(2)");
    expect(await page.locator(".events strong").allTextContents()).toEqual(["cat", "cat"]);
    await page.click(".events li:nth-child(1) a");
    await drawn("cat-2");
    await page.click("text=earlier frame");
    await drawn("cat-1");
    await page.click("text=earlier frame");
    await page.waitForFunction(
      () => document.querySelector(".said")?.textContent === "There is no earlier frame with cat.",
    );
    // A reload shows the same frame, since the address names it.
    await page.reload();
    await drawn("cat-1");

    // The timeline has a lane for all frames and one for the label. The keyboard moves along it.
    await page.selectOption(".timeline select", "1 hour");
    await page.waitForFunction(() => document.querySelectorAll(".lane:last-child .bar").length > 0);
    expect(await page.locator(".lane .name").allTextContents()).toEqual(["all frames", "cat"]);
    const slider = page.getByRole("slider");
    for (const key of ["End", "Home", "PageUp"]) await slider.press(key);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/: (no frames|nothing seen|cat in 1 frame)$/);

    const wide = (): Promise<number> => page.$eval(".stage canvas", (canvas) => canvas.clientWidth);
    const before = await wide();
    await page.getByRole("button", { name: "Zoom in" }).click();
    expect(Math.abs((await wide()) - before * 1.5)).toBeLessThan(2);
  });

  test("the search says what it lacks, and the empty page says what to do", async () => {
    await page.goto(host.url);
    await page.waitForSelector("#none:visible");
    expect(await page.textContent("#here")).toBe(host.url);
    expect(await page.isVisible(".search")).toBe(false);
    expect(await page.textContent("#totals")).toContain("nothing decoded here so far");
    await host.post(detectionPacket(0));
    await page.waitForSelector(".search:visible");
    await page.fill(".search label:nth-of-type(2) input", "2020-01-01T00:00");
    await page.fill(".search label:nth-of-type(3) input", "2020-01-02T00:00");
    await page.click("text=Search");
    // The text of the search before this one may still be there.
    await page.locator(".search .said", { hasText: "Nothing was seen then" }).waitFor();
  });

  test.each([320, 1280])("nothing overflows at %i px, and axe finds no fault in light or dark", async (width) => {
    await host.post(detectionPacket(0));
    // axe is a script of another place, which the policy of the page refuses.
    const context = await browser.newContext({
      ...{ bypassCSP: true, viewport: { width, height: 800 } },
      httpCredentials: { username: "anybody", password: pageToken },
    });
    const other = await context.newPage();
    for (const path of ["/", "/?source=/devices/1&subject=door"])
      for (const colorScheme of ["light", "dark"] as const) {
        await other.emulateMedia({ colorScheme });
        await other.goto(host.url + path);
        await other.waitForSelector(".events li");
        expect(await other.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        await other.evaluate(axe);
        const found = await other.evaluate(
          async () => (await (window as any).axe.run(document, { resultTypes: ["violations"] })).violations as object[],
        );
        expect(found, `${path} ${colorScheme}`).toEqual([]);
      }
    await context.close();
  });

  test("axe finds no fault in the page of a camera before the host has answered", async () => {
    await host.post(detectionPacket(0));
    const context = await browser.newContext({
      ...{ bypassCSP: true },
      httpCredentials: { username: "anybody", password: pageToken },
    });
    const other = await context.newPage();
    const asked = new Set<string>();
    // These requests and the events of the page get no answer.
    await other.route(/\/(v1|pictures|events)\b/, (route) => void asked.add(new URL(route.request().url()).pathname));
    await other.goto(`${host.url}/?source=/devices/1&subject=door`);
    await until(() => asked.has("/v1/timeline") && asked.has("/v1/seen") && asked.has("/events"));
    const slider = other.getByRole("slider");
    const [least, now, most] = await Promise.all(
      ["min", "now", "max"].map(async (name) => Number(await slider.getAttribute(`aria-value${name}`))),
    );
    expect(least).toBeLessThan(now!);
    expect(now).toBeLessThanOrEqual(most!);
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/\d/);
    expect(await slider.getAttribute("aria-valuetext")).not.toContain("no frames");
    expect(await other.getByRole("img").getAttribute("aria-label")).toBe("No picture so far");
    await other.evaluate(axe);
    const found = await other.evaluate(
      async () => (await (window as any).axe.run(document, { resultTypes: ["violations"] })).violations as object[],
    );
    expect(found).toEqual([]);
    await context.close();
  });

  test("cards are sorted, a filter hides others, and a silent camera is grey and says since when", async () => {
    for (const subject of ["door 10", "door 2", "yard"]) await host.post(detectionPacket(0, { subject, id: subject }));
    // One camera was heard of an hour ago.
    await host.db.write((tx) => tx.all("UPDATE cameras SET stored_at = stored_at - 3600000 WHERE subject = 'yard'"));
    await page.goto(host.url);
    await page.waitForFunction(() => document.querySelectorAll(".camera h2").length === 3);
    const titles = (): Promise<string[]> =>
      page.$$eval(".camera:not([hidden]) h2", (all) => all.map(({ textContent }) => textContent.split(" (")[0]!));
    expect(await titles()).toEqual(["door 2", "door 10", "yard"]);
    expect(await page.textContent(".camera.silent:last-child .arrival")).toMatch(/^silent for \d+ min, since /);
    await page.fill("#filter", "DOOR 1");
    expect(await titles()).toEqual(["door 10"]);
  });
});
