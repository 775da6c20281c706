/** The programs of examples/ for Node, run as a stranger runs them. The network gives out its own picture. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { imageInfo } from "../../src/picture/image-info.ts";
import { type Row, HEIGHT, WIDTH, pictureOf } from "../support/echo-network.ts";
import { fixture, tempFolder } from "../support/files.ts";
import { shared } from "../support/shared-data.ts";
import { exampleUrl, pngOf, runExample } from "./run-example.ts";

const folder = tempFolder();
const model = fixture("detect/network.onnx");
const dog: Row = [51, 102, 153, 204, 230, 255];
const cat: Row = [10, 20, 30, 40, 128, 0];

describe("photo.mjs", () => {
  test("prints what it finds and draws it", async () => {
    const photo = await folder.put("photo.png", pngOf([dog, cat]));
    const picture = folder.path("boxes.png");
    const ended = await runExample("photo.mjs", model, photo, picture);
    // The boxes are 51/255 and so on of 32 x 24 pixels.
    expect(ended).toEqual({ code: 0, out: "dog 0.90 at 6 10 19 19\ncat 0.50 at 1 2 4 4\n", err: "" });
    const drawn = readFileSync(picture);
    expect(imageInfo(drawn)).toMatchObject({ mime: "image/png", width: WIDTH, height: HEIGHT });
    // The box is drawn at its left edge: x 6, y 15.
    const at = (15 * WIDTH + 6) * 4;
    expect(PNG.sync.read(drawn).data.subarray(at, at + 4)).not.toEqual(
      PNG.sync.read(readFileSync(photo)).data.subarray(at, at + 4),
    );
  });

  test("reads a JPEG, and says how it is used", async () => {
    const data = Buffer.alloc(WIDTH * HEIGHT * 4);
    const photo = await folder.put(
      "black.jpg",
      jpeg.encode({ data, width: WIDTH, height: HEIGHT }, 100).data,
    );
    expect(await runExample("photo.mjs", model, photo, folder.path("b.png"))).toMatchObject({
      code: 0,
      out: "",
    });
    const ended = await runExample("photo.mjs", model);
    expect(ended.code).toBe(2);
    expect(ended.err).toContain("usage: node photo.mjs");
  });

  test.skipIf(shared === null)("finds a cup in a photo by a real network", async () => {
    const words = [`${shared}/data/models/yolox_nano.onnx`, `${shared}/data/photos/coffee.png`];
    const { code, out } = await runExample("photo.mjs", ...words, folder.path("cup.png"), "coco80");
    expect(code).toBe(0);
    expect(out).toMatch(/^cup 0\.[89]\d at 1[56]\d \d+ 4[12]\d /m);
  });
});

test("worker/main.mjs answers for each photo, in order", async () => {
  const photos = [await folder.put("a.png", pngOf([dog])), await folder.put("b.png", pngOf([cat, cat]))];
  const ended = await runExample("worker/main.mjs", model, ...photos);
  const lines = [`${photos[0]}: dog 0.90`, `${photos[1]}: cat 0.50`];
  expect(ended.err).toBe("");
  // An end-to-end network is not suppressed again: the cat is found twice, as the picture says.
  expect(ended.out.trimEnd().split("\n")).toEqual([...lines, lines[1]]);
  expect(ended.code).toBe(0);
});

describe("server.mjs", () => {
  /** Starts the server on a free port, and stops it after `use`. */
  async function withServer(use: (url: string) => Promise<void>): Promise<void> {
    const server = spawn(process.execPath, [fileURLToPath(exampleUrl("server.mjs")), model, "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      for await (const line of createInterface({ input: server.stdout })) return await use(line);
      throw new Error("the server ended before it listened");
    } finally {
      server.kill();
    }
  }
  const post = (url: string, body: Uint8Array): Promise<Response> =>
    fetch(url, { method: "POST", body: new Uint8Array(body) });

  test("answers many requests at once, each with its own detections", async () => {
    await withServer(async (url) => {
      const sent = [[dog], [], [cat], [dog, cat], [cat], [dog]] as Row[][];
      const answers = await Promise.all(sent.map(async (rows) => (await post(url, pngOf(rows))).json()));
      const labels = answers.map((found) => (found as { label: string }[]).map(({ label }) => label).join());
      expect(labels).toEqual(["dog", "", "cat", "dog,cat", "cat", "dog"]);
    });
  });

  test("refuses what is no PNG, what is damaged or too large, and goes on", async () => {
    await withServer(async (url) => {
      const huge = Buffer.from(pngOf([dog]));
      huge.writeUInt32BE(100_000, 16);
      huge.writeUInt32BE(100_000, 20);
      const bodies = [Buffer.from("no picture"), pngOf([dog]).subarray(0, 60), huge, Buffer.alloc(21e6)];
      const statuses: number[] = [];
      // The connection may end before all of the largest body is sent.
      for (const body of bodies)
        statuses.push(
          await post(url, body).then(
            ({ status }) => status,
            () => 413,
          ),
        );
      expect(statuses).toEqual([415, 400, 413, 413]);
      expect((await fetch(new URL("/other", url))).status).toBe(404);
      expect(await (await fetch(new URL("/health", url))).json()).toBe("ok");
      expect(await (await post(url, pngOf([cat]))).json()).toMatchObject([{ label: "cat" }]);
    });
  });
});

const ffmpeg = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].some((bin) => existsSync(`${bin}/ffmpeg`));

describe("video.mjs", () => {
  test.skipIf(!ffmpeg)("prints a line for each frame (needs ffmpeg)", async () => {
    const frames = [[dog], [dog, cat], [], [cat], [dog]] as Row[][];
    const video = folder.path("video.mkv");
    // FFV1 in rgb is lossless, so the pixels still say what has to be found.
    const pixels = frames.map((rows) => Buffer.from(pictureOf(rows).data));
    const input = ["-f", "rawvideo", "-pix_fmt", "rgb0", "-s", `${WIDTH}x${HEIGHT}`, "-r", "25", "-i", "-"];
    const words = ["-v", "error", ...input, "-c:v", "ffv1", "-pix_fmt", "bgr0", video];
    execFileSync("ffmpeg", words, { input: Buffer.concat(pixels) });
    const { code, out, err } = await runExample("video.mjs", model, video);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    interface Line {
      readonly frame: number;
      readonly detections: readonly { readonly label: string }[];
    }
    const lines = out.trimEnd().split("\n");
    const found = lines.map((line) => JSON.parse(line) as Line);
    expect(found.map(({ frame, detections }) => [frame, detections.map((d) => d.label).join()])).toEqual([
      [0, "dog"],
      [1, "dog,cat"],
      [2, ""],
      [3, "cat"],
      [4, "dog"],
    ]);
  });

  test.skipIf(!ffmpeg)("fails for a file that is no video (needs ffmpeg)", async () => {
    const { code, err } = await runExample("video.mjs", model, await folder.put("no.mp4", "no video"));
    expect(code).not.toBe(0);
    expect(err).toContain("Invalid data found");
  });
});
