/** Frames of a `<video>`, with a WebCodecs made by hand: which bytes are read, and when the canvas has to. */
import { afterEach, expect, test, vi } from "vitest";
import { PixelReader } from "../../src/detect/image.ts";
import { iteratorOf } from "../../src/detect/iterate.ts";
import { ownInput } from "../../src/detect/session.ts";
import { VideoReader } from "../../src/detect/video.ts";
import { type ImageInput, type PrepareRule, prepareImage } from "../../src/entries/index.ts";

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

test.each([
  ["seeked", 4, "i420"],
  ["error", 1, undefined],
])("a video that seeks is read after %s", async (event, readyState, format) => {
  stub({});
  const seeking = Object.assign(new EventTarget(), video, { seeking: true, readyState: 1 });
  const read = new VideoReader().read(seeking);
  Object.assign(seeking, { seeking: false, readyState }).dispatchEvent(new Event(event));
  expect((await read)?.format).toBe(format);
});

test("a video without a frame is refused: a canvas would show the picture before", async () => {
  stub({});
  await expect(new PixelReader().readNow(Object.assign({}, video, { readyState: 1 }))).rejects.toThrow(
    "image: got a video without a frame, expected one that shows a frame: await its event loadeddata",
  );
});

/** Puts a VideoFrame in place whose frames have seeded bytes. */
function stubNoise(format: "i420" | "nv12" | "rgba", [width, height]: readonly [number, number]): void {
  let seed = 0;
  stub({
    format: format.toUpperCase(),
    displayWidth: width,
    displayHeight: height,
    visibleRect: { width, height },
    allocationSize: (options: { format?: string }) => width * height * (options.format ? 4 : 1.5),
    copyTo: (to: Uint8Array, options: { format?: string }) => {
      seed++;
      for (let i = 0; i < to.length; i++) to[i] = (i * 7 + seed * 31) & 255;
      return Promise.resolve([{ stride: options.format ? 4 * width : width }]);
    },
  });
}

const bytesOf = (data: ArrayBufferView): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

const RULES: readonly Partial<PrepareRule>[] = [
  { pad: [1, 2, 3] },
  { type: "u8", pad: [1, 2, 3] },
  { layout: "NHWC", pad: [1, 2, 3], order: "BGR" },
  { type: "u8", layout: "NHWC" },
];

test.each(
  (["simd", "ts"] as const).flatMap((engine) =>
    (["i420", "nv12", "rgba"] as const).map((format) => [engine, format] as const),
  ),
)("%s, %s: frames and tensors stand in the kernel's memory, each reader's apart", async (engine, format) => {
  for (const size of [
    [64, 48],
    [48, 64],
    [320, 240],
  ] as const)
    for (const part of RULES) {
      stubNoise(format, size);
      const rule: PrepareRule = Object.freeze({
        ...part,
        size: Object.freeze([32, 32] as const),
        pad: Object.freeze(part.pad),
      });
      const dims = rule.layout === "NHWC" ? [1, 32, 32, 3] : [1, 3, 32, 32];
      // A reader's memory has room for two lanes. It is not there yet at the first frame, so that lane 0 stays outside.
      const lanes = [0, 1, 2].map(() => ownInput({ name: "", dims, type: rule.type ?? "f32" }));
      const readers = [new VideoReader(), new VideoReader()];
      for (let frame = 0; frame < 8; frame++) {
        // Both are read before one is prepared.
        const images: ImageInput[] = [];
        for (const reader of readers)
          images.push(
            (await reader.read({ ...video, videoWidth: size[0], videoHeight: size[1] })) as ImageInput,
          );
        const copies = images.map((image) => ({ ...image, data: image.data.slice() }));
        expect(images.some(({ data }) => data.length < data.buffer.byteLength)).toBe(frame > 1);
        // Another picture in the same tensor leaves other padding.
        const input = lanes[frame % lanes.length];
        if (frame === 5)
          prepareImage({ data: new Uint8Array(400), width: 50, height: 2 }, rule, { into: input.data });
        for (const [i, image] of images.entries()) {
          const { tensor } = prepareImage(image, rule, { engine, into: input.data });
          expect(tensor.data).toBe(input.data);
          const { data } = prepareImage(copies[i], rule).tensor;
          expect(bytesOf(tensor.data).equals(bytesOf(data))).toBe(true);
        }
      }
      const isInKernel = lanes.map(({ data }) => data.byteLength < data.buffer.byteLength);
      expect(isInKernel).toEqual([false, true, true]);
    }
});

test("a reader whose frames change in size keeps no memory for them", async () => {
  const reader = new VideoReader();
  for (const size of [
    [64, 48],
    [48, 64],
    [64, 48],
    [48, 64],
  ] as const) {
    stubNoise("i420", size);
    const image = (await reader.read({ ...video, videoWidth: size[0], videoHeight: size[1] })) as ImageInput;
    prepareImage(image, Object.freeze({ size: Object.freeze([32, 32] as const) }));
    expect(image.data.length).toBe(image.data.buffer.byteLength);
  }
});

test("a browser that refuses is not asked again", async () => {
  const copyTo = vi.fn(() => Promise.reject(new Error("NotSupportedError")));
  const seen = stub({ copyTo });
  const reader = new VideoReader();
  expect([await reader.read(video), await reader.read(video)]).toEqual([null, null]);
  expect([copyTo.mock.calls.length, seen.open]).toEqual([1, 0]);
});

/** Returns a video that shows a frame as soon as it is asked, or never. */
const playing = (shows = true) =>
  Object.assign(new EventTarget(), video, {
    ended: false,
    error: null as { message: string } | null,
    requestVideoFrameCallback: (callback: () => void) => (shows && setTimeout(callback), 1),
  });

test("a playing video is a stream of its frames until it ends", async () => {
  const source = playing();
  const frames = iteratorOf(source);
  expect(await frames.next()).toEqual({ done: false, value: source });
  expect(await frames.next()).toEqual({ done: false, value: source });
  source.ended = true;
  expect(await frames.next()).toEqual({ done: true, value: undefined });
});

test("a video that ends or fails while a frame is awaited", async () => {
  const ended = playing(false);
  const last = iteratorOf(ended).next();
  Object.assign(ended, { ended: true }).dispatchEvent(new Event("ended"));
  expect(await last).toEqual({ done: true, value: undefined });
  const failed = playing(false);
  const none = iteratorOf(failed).next();
  Object.assign(failed, { error: { message: "PIPELINE_ERROR_READ" } }).dispatchEvent(new Event("error"));
  await expect(none).rejects.toThrow(
    "detectAll: got a video that failed (PIPELINE_ERROR_READ), expected one that plays",
  );
});
