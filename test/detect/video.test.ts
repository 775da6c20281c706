/** Frames of a `<video>`, with a WebCodecs made by hand: which bytes are read, and when the canvas has to. */
import { afterEach, expect, test, vi } from "vitest";
import { iteratorOf } from "../../src/detect/iterate.ts";
import { VideoReader } from "../../src/detect/video.ts";

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
