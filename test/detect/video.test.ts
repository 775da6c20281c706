/** Frames of a `<video>`, with a WebCodecs made by hand: which bytes are read, and when the canvas has to. */
import { afterEach, expect, test, vi } from "vitest";
import { PixelReader } from "../../src/detect/image.ts";
import { iteratorOf } from "../../src/detect/iterate.ts";
import { VideoReader } from "../../src/detect/video.ts";
import { type ImageInput, prepareImage } from "../../src/entries/index.ts";

afterEach(() => vi.unstubAllGlobals());

const video = { videoWidth: 4, videoHeight: 2, readyState: 4 };
const BT601 = { matrix: "smpte170m", fullRange: false };

/** Puts a VideoFrame in place that gives such frames. Returns the options of each copy, and how many are open. */
function stub(frame: object): { readonly asked: unknown[]; open: number } {
  const seen = { asked: [] as unknown[], open: 0 };
  class VideoFrame {
    readonly format = "I420";
    readonly displayWidth = 4;
    readonly displayHeight = 2;
    readonly visibleRect = { width: 4, height: 2 };
    readonly colorSpace = BT601;
    constructor() {
      Object.assign(this, frame);
      seen.open++;
    }
    allocationSize(options: { format?: string }): number {
      return options.format === "RGBA" ? 32 : 12;
    }
    copyTo(to: Uint8Array, options: { format?: string }): Promise<unknown> {
      seen.asked.push(options.format ?? null);
      to.forEach((_, i) => (to[i] = i));
      return Promise.resolve([{ stride: options.format === "RGBA" ? 16 : 4 }]);
    }
    close(): void {
      seen.open--;
    }
  }
  vi.stubGlobal("VideoFrame", VideoFrame);
  return seen;
}

test.each([
  ["I420 of BT.601", {}, "i420", null],
  ["NV12 of BT.601", { format: "NV12" }, "nv12", null],
  ["BT.709", { colorSpace: { matrix: "bt709", fullRange: false } }, "rgba", "RGBA"],
  ["full range", { colorSpace: { ...BT601, fullRange: true } }, "rgba", "RGBA"],
  ["an unknown matrix", { colorSpace: { matrix: null, fullRange: null } }, "rgba", "RGBA"],
  ["another format", { format: "BGRA" }, "rgba", "RGBA"],
])("%s", async (_, frame, format, asked) => {
  const seen = stub(frame);
  const reader = new VideoReader();
  const image = await reader.read(video);
  expect(image).toMatchObject({ width: 4, height: 2, format, stride: format === "rgba" ? 16 : 4 });
  expect(image?.data).toEqual(Uint8Array.from({ length: format === "rgba" ? 32 : 12 }, (__, i) => i));
  // The next frame has the same memory.
  expect((await reader.read(video))?.data).toBe(image?.data);
  expect(seen).toEqual({ asked: [asked, asked], open: 0 });
});

test("a turned, mirrored or scaled frame is left to the canvas, and closed", async () => {
  for (const frame of [{ rotation: 90 }, { flip: true }, { displayWidth: 8 }, { visibleRect: null }]) {
    const seen = stub(frame);
    expect(await new VideoReader().read(video)).toBeNull();
    expect(seen).toEqual({ asked: [], open: 0 });
  }
});

test("a turned video is left to the canvas where frames state no rotation", async () => {
  stub({});
  expect(await new VideoReader().read({ ...video, videoWidth: 2, videoHeight: 4 })).toBeNull();
});

test("a frame that was given is read too, and left open", async () => {
  const seen = stub({});
  const frame = new (globalThis as unknown as { VideoFrame: new () => object }).VideoFrame();
  expect(await new VideoReader().read(frame)).toMatchObject({ width: 4, height: 2, format: "i420" });
  expect(seen).toEqual({ asked: [null], open: 1 });
});

test("a browser that does not know how to convert leaves other matrices to the canvas", async () => {
  const copyTo = vi.fn();
  stub({ colorSpace: { matrix: "bt709", fullRange: false }, allocationSize: () => 12, copyTo });
  expect(await new VideoReader().read(video)).toBeNull();
  expect(copyTo).not.toHaveBeenCalled();
});

test("a video that seeks is read when it shows the frame", async () => {
  stub({});
  const seeking = Object.assign(new EventTarget(), video, { seeking: true, readyState: 1 });
  const read = new VideoReader().read(seeking);
  Object.assign(seeking, { seeking: false, readyState: 4 }).dispatchEvent(new Event("seeked"));
  expect(await read).toMatchObject({ format: "i420" });
});

test("a video without a frame is refused: a canvas would show the picture before", async () => {
  stub({});
  await expect(new PixelReader().readNow(Object.assign({}, video, { readyState: 1 }))).rejects.toThrow(
    "image: got a video without a frame, expected one that shows a frame: await its event loadeddata",
  );
});

test.each(["simd", "ts"] as const)(
  "%s: frames stand in the kernel's memory, each reader's apart",
  async (engine) => {
    for (const format of ["i420", "nv12", "rgba"] as const) {
      const [width, height] = [64, 48];
      const size = format === "rgba" ? 4 * width * height : (width * height * 3) / 2;
      let seed = 0;
      stub({
        format: format.toUpperCase(),
        displayWidth: width,
        displayHeight: height,
        visibleRect: { width, height },
        allocationSize: (options: { format?: string }) =>
          options.format === "RGBA" ? 4 * width * height : size,
        copyTo: (to: Uint8Array, { format: asked }: { format?: string }) => {
          to.forEach((_, i) => (to[i] = (i * 7 + seed * 31) & 255));
          return Promise.resolve([{ stride: asked ? 4 * width : width }]);
        },
      });
      const rule = Object.freeze({ size: Object.freeze([32, 32] as const) });
      const readers = [new VideoReader(), new VideoReader()];
      for (let frame = 0; frame < 3; frame++) {
        // Both are read before one is prepared.
        const images: ImageInput[] = [];
        const copies: ImageInput[] = [];
        for (const reader of readers) {
          seed++;
          const image = (await reader.read({
            ...video,
            videoWidth: width,
            videoHeight: height,
          })) as ImageInput;
          images.push(image);
          copies.push({ ...image, data: image.data.slice() });
        }
        images.forEach((image, i) => {
          expect(image.data.length === image.data.buffer.byteLength).toBe(frame === 0);
          expect(prepareImage(image, rule, { engine }).tensor).toEqual(prepareImage(copies[i], rule).tensor);
        });
      }
    }
  },
);

test("a browser that refuses is not asked again", async () => {
  const copyTo = vi.fn(() => Promise.reject(new Error("NotSupportedError")));
  const seen = stub({ copyTo });
  const reader = new VideoReader();
  expect([await reader.read(video), await reader.read(video)]).toEqual([null, null]);
  expect([copyTo.mock.calls.length, seen.open]).toEqual([1, 0]);
});

test("a playing video is a stream of its frames until it ends", async () => {
  let ended = false;
  const playing = {
    ...video,
    get ended() {
      return ended;
    },
    requestVideoFrameCallback: (callback: () => void) => (setTimeout(callback), 1),
    addEventListener: () => undefined,
  };
  const source = iteratorOf(playing);
  expect(await source.next()).toEqual({ done: false, value: playing });
  expect(await source.next()).toEqual({ done: false, value: playing });
  ended = true;
  expect(await source.next()).toEqual({ done: true, value: undefined });
});
