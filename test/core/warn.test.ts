/** Where notes go if nobody passes `onNote`. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { isDevelopment } from "../../src/core/warn.ts";
import { createDecoderSync, createTracker } from "../../src/entries/index.ts";

const NODE = { process: { versions: { node: "20.0.0" } } };

describe("development", () => {
  test.each<[boolean, object, string | undefined]>([
    [true, NODE, undefined],
    [true, NODE, "development"],
    [true, NODE, "test"],
    [false, NODE, "production"],
    [true, { location: { hostname: "localhost" } }, undefined],
    [true, { location: { hostname: "127.0.0.1" } }, undefined],
    [true, { location: { hostname: "[::1]" } }, "production"],
    [true, { location: { hostname: "app.localhost" } }, undefined],
    [false, { location: { hostname: "localhost.example.org" } }, undefined],
    [false, { location: { hostname: "example.org" } }, undefined],
    [true, { location: { hostname: "example.org" } }, "development"],
    [false, { ...NODE, navigator: { userAgent: "Cloudflare-Workers" } }, undefined],
    [false, {}, undefined],
  ])("%s in %j with NODE_ENV %s", (expected, around, env) => {
    // An empty text stands for no NODE_ENV: undefined would be that of this test.
    expect(isDevelopment(around, env ?? "")).toBe(expected);
  });
});

describe("console.warn", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const zeros = { o: { data: new Float32Array(84 * 21), dims: [1, 84, 21] } };
  const decode = (options: object = {}) =>
    createDecoderSync({ family: "yolov8", classes: 80, inputSize: [32, 32] }, options).decode(zeros);

  test("receives the first note of a kind once, with the line that silences it", () => {
    vi.stubEnv("NODE_ENV", "development");
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    for (let i = 0; i < 3; i++) decode();
    expect(warn.mock.calls.flat()).toEqual([
      expect.stringMatching(
        /^boxwright: every score of the first frame is 0.*\n.*onNote: \(\) => \{\} silences/,
      ),
    ]);
    const tracker = createTracker({ size: [640, 480] });
    for (let i = 0; i < 8; i++) tracker.update([], i * 2);
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test("receives nothing in production, or where onNote is given", () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    vi.stubEnv("NODE_ENV", "production");
    decode({ confidenceThreshold: 0.5 });
    vi.stubEnv("NODE_ENV", "development");
    const onNote = vi.fn();
    decode({ onNote });
    expect(onNote).toHaveBeenCalledTimes(1);
    expect(warn).not.toHaveBeenCalled();
  });
});
