import { createRequire } from "node:module";
import { dirname } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  ConfigError,
  type Detection,
  type Detector,
  type DetectorImage,
  type Lane,
  type Runtime,
  type Session,
  createDetector,
  onnxRuntime,
  tfjs,
  webnn,
} from "../../src/entries/index.ts";
import {
  CONFIG,
  HEIGHT,
  ROWS,
  type Row,
  WIDTH,
  echoOnnx,
  expectedOf,
  pictureOf,
} from "../support/echo-network.ts";
import { readFixture } from "../support/files.ts";
import { onnxFile } from "../support/onnx.ts";

const dog: Row = [51, 102, 153, 204, 230, 255];
const cat: Row = [10, 20, 30, 40, 128, 0];

/** Expects these detections, best first, to f32's last bits. */
function expectRows(found: Iterable<Detection>, rows: readonly Row[]): void {
  const close = (value: unknown): unknown => (typeof value === "number" ? +value.toFixed(6) : value);
  const plain = (list: Iterable<object>): unknown =>
    Array.from(list, (d) => Object.fromEntries(Object.entries(d).map(([key, value]) => [key, close(value)])));
  expect(plain(found)).toEqual(plain(expectedOf(rows)));
}

test("the network of the examples is the one that this file's tests run", () => {
  expect(readFixture("detect/network.onnx")).toEqual(echoOnnx());
});

/** What every runtime has to do. */
async function expectDetects(detector: Detector, layout: "NCHW" | "NHWC" = "NCHW"): Promise<void> {
  expectRows(await detector.detect(pictureOf([dog, cat], layout)), [dog, cat]);
  expectRows(await detector.detect(pictureOf([cat], layout)), [cat]);
  expectRows(await detector.detect(pictureOf([], layout)), []);
  const stream = [[dog], [], [cat, cat], [dog, cat], [cat]].map((rows) => pictureOf(rows as Row[], layout));
  const labels: string[] = [];
  for await (const found of detector.detectAll(stream)) labels.push(Array.from(found, (d) => d.label).join());
  expect(labels).toEqual(["dog", "", "cat,cat", "dog,cat", "cat"]);
  for (const time of Object.values(detector.timings)) expect(time).toBeGreaterThan(0);
  await detector.close();
}

describe("runtimes", () => {
  test("onnxruntime-node, from a file that says all", async () => {
    const ort = await import("onnxruntime-node");
    const detector = await createDetector({ model: echoOnnx(), runtime: onnxRuntime(ort) });
    // The shapes are known before the first frame, so the runtime writes into the slot.
    const slot = detector.decoder.slots["output0"];
    expect(slot.dims).toEqual([1, ROWS, 6]);
    await detector.detect(pictureOf([dog]));
    expect(slot.data[0]).toBeCloseTo(0.2 * WIDTH, 5);
    await expectDetects(detector);
  });

  test("onnxruntime-node, from a session that is open, and another buffer", async () => {
    const ort = await import("onnxruntime-node");
    const session = await ort.InferenceSession.create(echoOnnx());
    const source = { model: session, runtime: onnxRuntime(ort) };
    await expect(createDetector(source as never)).rejects.toThrow(
      "config: got a network that is open already, and no config",
    );
    const swapped = (): unknown => onnxRuntime(session as never);
    expect(swapped).toThrow(
      /^onnxRuntime: got .* without Tensor, expected the runtime itself, .* \{ model, runtime, config \}$/,
    );
    const promised = { model: Promise.resolve(echoOnnx()), runtime: onnxRuntime(ort) };
    await expect(createDetector(promised as never)).rejects.toThrow(
      "model: got a promise, expected what it resolves to: await it",
    );
    const config = { family: "yolo26", labels: CONFIG.labels, reading: "end-to-end" };
    await expectDetects(await createDetector({ ...source, config }));
    const { buffer } = echoOnnx();
    await expectDetects(await createDetector({ model: buffer, runtime: onnxRuntime(ort) }));
  });

  test("onnxruntime-web", async () => {
    const ort = await import("onnxruntime-web");
    ort.env.wasm.numThreads = 1;
    await expectDetects(await createDetector({ model: echoOnnx(), runtime: onnxRuntime(ort) }));
  });

  test("TensorFlow.js on its backend wasm", async () => {
    const wasm = await import("@tensorflow/tfjs-backend-wasm");
    const tf = await import("@tensorflow/tfjs-core");
    const entry = createRequire(import.meta.url).resolve("@tensorflow/tfjs-backend-wasm");
    wasm.setWasmPaths(`${dirname(entry)}/`);
    await tf.setBackend("wasm");
    type Picture = Parameters<typeof tf.reshape>[0];
    const shape = [1, HEIGHT, WIDTH, 3];
    const model = {
      inputs: [{ name: "images", shape, dtype: "float32" }],
      predict: (x: unknown) => tf.reshape(x as Picture, [1, ROWS, 6]),
    };
    const before = tf.memory().numTensors;
    await expectDetects(await createDetector({ model, runtime: tfjs(tf), config: CONFIG }), "NHWC");
    // results by name, and networks that run asynchronously
    const named = {
      ...model,
      executeAsync: async (x: unknown) => ({ output0: tf.reshape(x as Picture, [1, ROWS, 6]) }),
    };
    const runtime = tfjs(tf, { executeAsync: true });
    await expectDetects(await createDetector({ model: named, runtime, config: CONFIG }), "NHWC");
    expect(tf.memory().numTensors).toBe(before);
  });

  test("WebNN, by a context that computes what it is told, in turn", async () => {
    const memory = new Map<object, Float32Array>();
    let work = Promise.resolve();
    const context = {
      writeTensor: (tensor: object, data: Float32Array) => void memory.set(tensor, data.slice()),
      dispatch: (_: object, inputs: { images: object }, outputs: { output0: object }) =>
        void memory.set(outputs.output0, memory.get(inputs.images)?.slice() ?? new Float32Array()),
      readTensor: (tensor: object, into: Float32Array) => {
        const data = memory.get(tensor) ?? new Float32Array();
        work = work.then(() => void into.set(data));
        return work;
      },
    };
    const tensor = (...shape: number[]) => ({ dataType: "float32", shape });
    const model = {
      graph: {},
      inputs: { images: tensor(1, 3, HEIGHT, WIDTH) },
      outputs: { output0: tensor(1, ROWS, 6) },
    };
    await expectDetects(await createDetector({ model, runtime: webnn(context), config: CONFIG }));
  });
});

/** A session whose runs end when the test says so. */
function handSession(overlaps = true) {
  const runs: { end: () => void; fail: (error: Error) => void }[] = [];
  const events: string[] = [];
  const session: Session = {
    overlaps,
    inputs: [{ name: "images", dims: [1, 3, HEIGHT, WIDTH], type: "float32" }],
    createLane: (): Lane => {
      const input = new Float32Array(3 * HEIGHT * WIDTH);
      return {
        input: () => input,
        run: () => {
          const data = input.slice();
          events.push("run");
          return new Promise((resolve, reject) => {
            runs.push({
              end: () => {
                events.push("ran");
                resolve({ output0: { data, dims: [1, ROWS, 6] } });
              },
              fail: reject,
            });
          });
        },
        release: () => void events.push("release"),
        close: () => undefined,
      };
    },
    close: () => void events.push("close"),
  };
  return { session, runs, events };
}

/** Waits until so many runs have begun. */
const begun = (runs: readonly unknown[], count: number): Promise<boolean> =>
  vi.waitUntil(() => runs.length >= count, { timeout: 120_000, interval: 1 });
/** Lets the detector do what it can do without a further run: all of it follows in promises, before the next turn. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("detectAll", () => {
  const make = async (overlaps?: boolean) => {
    const hand = handSession(overlaps);
    const detector = await createDetector({ session: hand.session, config: CONFIG }, { warmUp: 0 });
    return { ...hand, detector };
  };

  test("decodes a frame while the next one runs", async () => {
    const { detector, runs, events } = await make();
    const frames = [[dog], [cat], [dog, cat]].map((rows) => pictureOf(rows as Row[]));
    const stream = detector.detectAll(frames);
    const first = stream.next();
    await begun(runs, 1);
    await settle();
    expect(events).toEqual(["run"]);
    runs[0].end();
    expectRows((await first).value as Iterable<Detection>, [dog]);
    // the second run had begun before the first frame was decoded
    expect(events).toEqual(["run", "ran", "run", "release"]);
    const second = stream.next();
    runs[1].end();
    expectRows((await second).value as Iterable<Detection>, [cat]);
    const third = stream.next();
    await begun(runs, 3);
    runs[2].end();
    expectRows((await third).value as Iterable<Detection>, [dog, cat]);
    expect((await stream.next()).done).toBe(true);
  });

  test("gives a result at once if no image comes behind it", async () => {
    const { detector, runs } = await make();
    let send: (image: DetectorImage) => void = () => undefined;
    const frames = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise<IteratorResult<DetectorImage>>((resolve) => {
            send = (value) => resolve({ value, done: false });
          }),
      }),
    };
    const stream = detector.detectAll(frames);
    const first = stream.next();
    send(pictureOf([dog]));
    await begun(runs, 1);
    runs[0].end();
    expectRows((await first).value as Iterable<Detection>, [dog]);
    await stream.return();
  });

  test.each([true, false])("ends on a signal with its reason (overlapping runs: %s)", async (overlaps) => {
    const { detector, runs, events } = await make(overlaps);
    const end = new AbortController();
    const never = (async function* () {
      yield pictureOf([dog]);
      await new Promise(() => undefined);
    })();
    const stream = detector.detectAll(never, { signal: end.signal });
    const first = stream.next();
    await begun(runs, 1);
    runs[0].end();
    await first;
    const second = stream.next();
    await settle();
    end.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    expect(events.filter((e) => e === "run")).toHaveLength(1);
    // and the detector is free again
    const again = detector.detect(pictureOf([cat]));
    await begun(runs, 2);
    runs[1].end();
    expectRows(await again, [cat]);
    await expect(detector.detectAll([], { signal: end.signal }).next()).rejects.toThrow("enough");
  });

  test("waits for the run under way when the loop is left", async () => {
    const { detector, runs, events } = await make();
    const stream = detector.detectAll([pictureOf([dog]), pictureOf([cat]), pictureOf([cat])]);
    const first = stream.next();
    await begun(runs, 1);
    runs[0].end();
    await first;
    const left = stream.return();
    await settle();
    await expect(detector.detect(pictureOf([dog]))).rejects.toThrow("has not ended");
    runs[1].end();
    await left;
    expect(events.filter((e) => e === "run")).toHaveLength(2);
  });

  test("passes on what the runtime throws, and what is no image or no list", async () => {
    const { detector, runs } = await make();
    const stream = detector.detectAll([pictureOf([dog]), pictureOf([dog])]);
    const first = stream.next();
    await begun(runs, 1);
    runs[0].fail(new Error("out of memory"));
    await expect(first).rejects.toThrow("out of memory");
    await expect(detector.detectAll([3 as unknown as DetectorImage]).next()).rejects.toThrow("image: got 3");
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
    for (const [encoded, found] of [
      [png, "the bytes of a PNG file ("],
      [png.buffer, "the bytes of a PNG file ("],
      [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "the bytes of a JPEG file ("],
      [new Uint8Array(5), "5 bytes without a width and a height"],
      [new Blob([png], { type: "image/png" }), 'a Blob of type "image/png" ('],
    ] as const)
      await expect(detector.detect(encoded as unknown as DetectorImage)).rejects.toThrow(
        `image: got ${found}`,
      );
    for (const wrong of [5, "photo.png", {}, { [Symbol.iterator]: () => ({}) }])
      await expect(detector.detectAll(wrong as unknown as []).next()).rejects.toThrow(
        /detectAll: got .*, expected something to iterate over/,
      );
    const locked = new ReadableStream();
    locked.getReader();
    await expect(detector.detectAll(locked as unknown as []).next()).rejects.toThrow(
      /detectAll: got a ReadableStream that does not open \(.*\), expected something to iterate over/,
    );
    // The detector is not busy with what never began.
    expect(await detector.detectAll([]).next()).toMatchObject({ done: true });
    await expect(detector.detectAll(null as unknown as []).next()).rejects.toThrow(
      "detectAll: got null, expected something to iterate over",
    );
  });
});

describe("detect", () => {
  test("refuses a second call before the first has ended, and any after close", async () => {
    const { session, runs, events } = handSession();
    const detector = await createDetector({ session, config: CONFIG }, { warmUp: 0 });
    const first = detector.detect(pictureOf([dog]));
    await expect(detector.detect(pictureOf([cat]))).rejects.toThrow("both have one result");
    runs[0].end();
    expectRows(await first, [dog]);
    await detector.close();
    await detector.close();
    expect(events.filter((e) => e === "close")).toHaveLength(1);
    await expect(detector.detect(pictureOf([cat]))).rejects.toThrow("closed");
  });

  test("warms up as often as it is told", async () => {
    for (const warmUp of [0, 1, 3]) {
      const { session, runs } = handSession();
      const making = createDetector({ session, config: CONFIG }, { warmUp });
      for (let i = 0; i < warmUp; i++) {
        await begun(runs, i + 1);
        runs[i].end();
      }
      await making;
      expect(runs).toHaveLength(warmUp);
    }
  });

  test("takes labels by the name of a list, and thresholds between images", async () => {
    const ort = await import("onnxruntime-node");
    const source = { model: echoOnnx(), runtime: onnxRuntime(ort) };
    await expect(createDetector(source, { labels: "coco" as "coco80" })).rejects.toThrow(
      "coco80, coco91, voc20, voc21",
    );
    const detector = await createDetector(source, {
      labels: "coco80",
      classes: 80,
      confidenceThreshold: 0.6,
    });
    const [found, ...others] = await detector.detect(pictureOf([dog, cat]));
    expect([found.label, others.length]).toEqual(["bicycle", 0]);
    detector.decoder.update({ confidenceThreshold: 0.4 });
    expect(await detector.detect(pictureOf([dog, cat]))).toHaveLength(2);
  });
});

describe("drawables", () => {
  afterEach(() => vi.unstubAllGlobals());

  test("are drawn on one canvas in their own size", async () => {
    const { session, runs } = handSession();
    const detector = await createDetector({ session, config: CONFIG }, { warmUp: 0 });
    const image = { naturalWidth: WIDTH, naturalHeight: HEIGHT, width: 7, height: 7 };
    await expect(detector.detect(image)).rejects.toThrow("no canvas to draw it on");
    const made: unknown[] = [];
    const Canvas = class {
      readonly width: number;
      readonly height: number;
      constructor(width: number, height: number) {
        this.width = width;
        this.height = height;
        made.push(this);
      }
      getContext(kind: string, options: object) {
        expect([kind, options]).toEqual(["2d", { willReadFrequently: true }]);
        return {
          drawImage: (...args: unknown[]) => expect(args).toEqual([image, 0, 0, WIDTH, HEIGHT]),
          getImageData: (...args: number[]) => {
            expect(args).toEqual([0, 0, WIDTH, HEIGHT]);
            return pictureOf([dog]);
          },
        };
      }
    };
    vi.stubGlobal("OffscreenCanvas", Canvas);
    for (let i = 0; i < 2; i++) {
      const found = detector.detect(image);
      runs[i].end();
      expectRows(await found, [dog]);
    }
    expect(made).toHaveLength(1);
    await expect(detector.detect({ videoWidth: 0, videoHeight: 0 })).rejects.toThrow("one that is loaded");
  });
});

describe("what is missing is said", () => {
  const runtime: Runtime<Uint8Array> = {
    name: "none",
    open: () => Promise.reject(new Error("a runtime was started")),
  };

  test("a file that states too little, before any runtime is started", async () => {
    const model = onnxFile({
      inputs: [{ name: "x", type: "float32", dims: [1, 3, 64, 64] }],
      outputs: [{ name: "y", type: "float32", dims: [1, 85, 22, 22] }],
    });
    await expect(createDetector({ model, runtime })).rejects.toThrow("family: got outputs y [1,85,22,22]");
    await expect(createDetector({ model, runtime })).rejects.toBeInstanceOf(ConfigError);
    const settled = createDetector({ model, runtime }, { family: "fastestdet", classes: 80 });
    await expect(settled).rejects.toThrow("a runtime was started");
  });

  test("families whose networks share no preparation", async () => {
    const { session } = handSession();
    const config = { family: "boxes", classes: 2, inputSize: [WIDTH, HEIGHT] };
    await expect(createDetector({ session, config }, { warmUp: 0 })).rejects.toThrow(
      'options.prepare: got the family "boxes", whose networks share no preparation',
    );
    await createDetector({ session, config }, { warmUp: 0, prepare: { mean: 0, std: 255 } });
  });

  test("an input that is open, of several images, of other channels or types, or one of several", async () => {
    const make = (inputs: Session["inputs"], more: object = {}) =>
      createDetector(
        { session: { ...handSession().session, inputs }, config: { family: "yolov8", classes: 2, ...more } },
        { warmUp: 0 },
      );
    const images = (dims: Session["inputs"][number]["dims"], type = "float32") => [
      { name: "images", dims, type },
    ];
    await expect(make(images([1, 3, "height", "width"]))).rejects.toThrow("options.inputSize");
    await make(images([1, 3, "height", "width"]), { inputSize: [64, 64] });
    await make(images([1, 3, -1, -1]), { inputSize: [64, 64] });
    await make(images([1, 64, 64, 3], "uint8"));
    await expect(make(images([1, 3, 64, 64]), { inputSize: [32, 32] })).rejects.toThrow(
      "inputSize: got 32x32, but the network's input images [1,3,64,64] takes 64x64",
    );
    await expect(make(images([8, 3, 64, 64]))).rejects.toThrow(
      "inputs: got images [8,3,64,64], expected [1,3,64,64]",
    );
    await make(images([1, 1, 64, 64]));
    await expect(make(images([1, 2, 64, 64]))).rejects.toThrow("one picture of three channels, or of one");
    await expect(make(images([1, 3, 64, 64], "int64"))).rejects.toThrow('of type "int64"');
    await expect(
      make([...images([1, 3, 64, 64]), { name: "size", dims: [1, 2], type: "int64" }]),
    ).rejects.toThrow("got 2 inputs (images, size), expected one");
  });

  test("sources that are none", async () => {
    const make = createDetector as (source: unknown) => Promise<Detector>;
    await expect(make(undefined)).rejects.toThrow("expected { model, runtime } or { session, config }");
    await expect(make({ model: echoOnnx() })).rejects.toThrow("an adapter, such as onnxRuntime(ort)");
    await expect(make({ model: "network.onnx", runtime })).rejects.toThrow("await readFile(path) in Node");
  });

  test("a session is closed if no decoder fits it", async () => {
    const { session, events } = handSession();
    await expect(createDetector({ session, config: { family: "none" } })).rejects.toBeInstanceOf(ConfigError);
    expect(events).toEqual(["close"]);
  });
});
