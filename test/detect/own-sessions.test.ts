/** Sessions of one's own that forget something, and calls that meet each other. */
import { describe, expect, test } from "vitest";
import { createDetector } from "../../src/entries/index.ts";

const CONFIG = { family: "yolov8", labels: ["person", "cat"], inputSize: [64, 64] } as const;
const image = { data: new Uint8Array(64 * 64 * 4), width: 64, height: 64 };

function outputs() {
  const data = new Float32Array(6 * 84);
  [32, 16, 20, 24, 0.1, 0.72].forEach((value, channel) => (data[channel * 84] = value));
  return { output0: { data, dims: [1, 6, 84] } };
}

/** Returns a source whose session logs what is closed. */
function sourceOf(lane: object = {}, log: string[] = [], session: object = {}) {
  const input = new Float32Array(3 * 64 * 64);
  return {
    session: {
      inputs: [{ name: "images", dims: [1, 3, 64, 64], type: "float32" }],
      overlaps: false,
      createLane: () => ({
        input: () => input,
        run: () => Promise.resolve(outputs()),
        release: () => undefined,
        close: () => void log.push("lane"),
        ...lane,
      }),
      close: () => void log.push("session"),
      ...session,
    } as never,
    config: CONFIG,
  };
}

describe("a session of one's own", () => {
  test("without memory for the input is refused: the network would not see the picture", async () => {
    await expect(createDetector(sourceOf({ input: () => undefined }))).rejects.toThrow(
      "session: input() of a lane: got undefined, expected the memory of the input tensor",
    );
  });

  test("whose run gives nothing is refused, also when slots have the outputs of a frame before", async () => {
    const givesAt = async (nothing: null | undefined, frame: number): Promise<unknown> => {
      // The first run is that of the blank picture.
      let runs = -1;
      const run = () => Promise.resolve(++runs < frame ? outputs() : nothing);
      const detector = await createDetector(sourceOf({ run }));
      for (let i = 1; i < frame; i++) expect(await detector.detect(image)).toHaveLength(1);
      return detector.detect(image);
    };
    const message = (nothing: null | undefined): string =>
      `session: run() of a lane: got ${nothing}, expected the outputs, or null if it wrote them into the slots`;
    await expect(givesAt(undefined, 1)).rejects.toThrow(message(undefined));
    await expect(givesAt(undefined, 2)).rejects.toThrow(message(undefined));
    await expect(givesAt(null, 1)).rejects.toThrow(message(null));
  });

  test("without lanes, or a runtime without a session, is refused", async () => {
    await expect(createDetector(sourceOf({}, [], { createLane: () => undefined }))).rejects.toThrow(
      "session.createLane: got a lane without input, run, release, close",
    );
    const runtime = { name: "mine", open: () => Promise.resolve(undefined as never) };
    await expect(createDetector({ model: {}, runtime, config: CONFIG })).rejects.toThrow(
      "createDetector: what runtime.open() gave: got one without inputs, createLane, close",
    );
  });

  test("whose first run fails gets its lane and itself closed", async () => {
    const log: string[] = [];
    const run = () => Promise.reject(new Error("no device"));
    await expect(createDetector(sourceOf({ run }, log))).rejects.toThrow("no device");
    expect(log).toEqual(["lane", "session"]);
  });
});

describe("close", () => {
  test("waits for the call that runs", async () => {
    const log: string[] = [];
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const run = () => ended.then(outputs);
    const detector = await createDetector(sourceOf({ run }, log), { warmUp: 0 });
    const running = detector.detect(image);
    const closing = detector.close();
    await expect(detector.detect(image)).rejects.toThrow("detect() was called on a detector that is closed");
    expect(log).toEqual([]);
    end();
    expect(await running).toHaveLength(1);
    await Promise.all([closing, detector.close()]);
    expect(log).toEqual(["lane", "session"]);
  });

  test.each([true, false])("ends a loop, from within and from outside, overlapping: %s", async (overlaps) => {
    for (const closesWithin of [true, false]) {
      const log: string[] = [];
      const detector = await createDetector(sourceOf({}, log, { overlaps }));
      let closing: Promise<void> | undefined;
      let count = 0;
      // The third frame never comes.
      const frames = (async function* () {
        yield image;
        yield image;
        if (!closesWithin) closing = detector.close();
        await new Promise(() => undefined);
      })();
      for await (const found of detector.detectAll(frames)) {
        expect(found).toHaveLength(1);
        count++;
        if (closesWithin) await detector.close();
      }
      await closing;
      expect(count).toBeLessThanOrEqual(closesWithin ? 1 : 2);
      expect(log.filter((word) => word === "session")).toHaveLength(1);
    }
  });

  test("of two networks closes both or none", async () => {
    const log: string[] = [];
    const pose = {
      ...sourceOf({}, log, { inputs: [{ name: "crop", dims: [1, 3, 256, 192], type: "float32" }] }),
      config: { family: "rtmpose", inputSize: [192, 256] },
    };
    let enter: () => void = () => undefined;
    let leave: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => (enter = resolve));
    const left = new Promise<void>((resolve) => (leave = resolve));
    let runs = 0;
    const run = async () => {
      // The first run is that of the blank picture.
      if (runs++ > 0) {
        enter();
        await left;
      }
      const row = (length: number) => ({ data: new Float32Array(17 * length), dims: [1, 17, length] });
      return { simcc_x: row(384), simcc_y: row(512) };
    };
    const input = new Float32Array(3 * 256 * 192);
    Object.assign(pose.session, {
      createLane: () => ({
        input: () => input,
        run,
        release: () => undefined,
        close: () => log.push("crops"),
      }),
    });
    const detector = await createDetector({ ...sourceOf({}, log), points: pose });
    const running = detector.detect(image);
    // The first network has ended, and the second one runs.
    await entered;
    const closing = detector.close();
    expect(log).toEqual([]);
    leave();
    await running;
    await closing;
    await detector.close();
    expect(log).toEqual(["lane", "session", "crops", "session"]);
    await expect(detector.detect(image)).rejects.toThrow("closed");
  });
});

describe("arguments of detectAll", () => {
  const first = async (...args: unknown[]): Promise<unknown> => {
    const detector = await createDetector(sourceOf());
    return detector.detectAll(...(args as [never])).next();
  };
  test("the bytes of a photo, or one picture, are for detect()", async () => {
    for (const one of [new Uint8Array([255, 216, 255]), image])
      await expect(first(one)).rejects.toThrow("A single one is for detect()");
  });
  test("a signal that is none", async () => {
    await expect(first([image], { signal: "stop" })).rejects.toThrow(
      'signal: got "stop", expected the signal of an AbortController',
    );
  });
});
