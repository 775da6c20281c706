/** examples/frigate: what Frigate's plug-in "zmq" asks, and what it has to get. */
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as ort from "onnxruntime-node";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { type Detector, createDetector, onnxRuntime } from "../../src/entries/index.ts";
import { type Row, HEIGHT, WIDTH, expectedOf, pictureOf } from "../support/echo-network.ts";
import { fixture, readFixture, tempFolder } from "../support/files.ts";
import { describeShared, readRecording } from "../support/shared-data.ts";
import { exampleUrl } from "./run-example.ts";

type Frame = Uint8Array | string;
interface Protocol {
  createAnswerer(options: {
    open: (bytes: Uint8Array) => Promise<Detector>;
    detector?: Detector;
    log: (message: string) => void;
  }): (frames: readonly Frame[]) => Promise<Buffer>;
}
const { createAnswerer } = (await import(exampleUrl("frigate/protocol.mjs").href)) as Protocol;

const open = (bytes: Uint8Array): Promise<Detector> =>
  createDetector({ model: new Uint8Array(bytes), runtime: onnxRuntime(ort) });
const network = readFixture("detect/network.onnx");
const dog: Row = [51, 102, 153, 204, 230, 255];
const cat: Row = [10, 20, 30, 40, 128, 0];

let said: string[] = [];
const log = (message: string): void => void said.push(message);
beforeEach(() => (said = []));

/** Returns the picture as Frigate sends it: bytes, red, green and blue for each pixel. */
function bytesOf(rows: readonly Row[]): Uint8Array {
  const { data } = pictureOf(rows);
  return Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => data[Math.floor(i / 3) * 4 + (i % 3)]);
}

const ask = (shape: unknown, dtype: unknown = "uint8"): string =>
  JSON.stringify({ shape, dtype, model_type: "yologeneric" });
const NHWC = [1, HEIGHT, WIDTH, 3];

/** Returns the used rows of an answer. Expects 20 rows, the unused ones 0. */
function rowsIn(answer: Uint8Array): number[][] {
  expect(answer.length).toBe(20 * 6 * 4);
  const values = new Float32Array(new Uint8Array(answer).buffer);
  const rows = Array.from({ length: 20 }, (_, i) => [...values.subarray(i * 6, i * 6 + 6)]);
  const used = rows.findIndex((row) => row.every((value) => value === 0));
  const end = used === -1 ? 20 : used;
  expect(rows.slice(end).flat().some(Boolean)).toBe(false);
  return rows.slice(0, end);
}

/** Rows that Frigate has to get: class id, score, then y before x. */
const expectedRows = (rows: readonly Row[]): number[][] =>
  expectedOf(rows).map(({ class_id, confidence, x_min, y_min, x_max, y_max }) =>
    [class_id, confidence, y_min, x_min, y_max, x_max].map((value) => expect.closeTo(value, 5) as number),
  );

const jsonOf = (answer: Uint8Array): unknown => JSON.parse(Buffer.from(answer).toString());

describe("protocol.mjs", () => {
  const loaded = async (): Promise<(frames: readonly Frame[]) => Promise<Buffer>> =>
    createAnswerer({ open, detector: await open(network), log });

  test("answers with the best rows first, whatever the order of the network", async () => {
    const answer = await loaded();
    expect(rowsIn(await answer([ask(NHWC), bytesOf([cat, dog])]))).toEqual(expectedRows([dog, cat]));
    expect(rowsIn(await answer([ask(NHWC), bytesOf([])]))).toEqual([]);
    expect(said).toEqual([]);
  });

  test("answers with 20 of 25", async () => {
    const many = Array.from({ length: 25 }, (_, i): Row => [10, 20, 100, 120, 100 + i * 5, 0]);
    const rows = rowsIn(await (await loaded())([ask(NHWC), bytesOf(many)]));
    expect(rows).toEqual(expectedRows(many.slice(5).reverse()));
  });

  test("takes planes, and 0..1 in f32 at any address", async () => {
    const answer = await loaded();
    const pixels = bytesOf([dog, cat]);
    const plane = WIDTH * HEIGHT;
    const planes = pixels.map((_, i) => pixels[(i % plane) * 3 + Math.floor(i / plane)]);
    expect(rowsIn(await answer([ask([1, 3, HEIGHT, WIDTH]), planes]))).toEqual(expectedRows([dog, cat]));
    const floats = new Uint8Array(Float32Array.from(pixels, (byte) => byte / 255).buffer);
    const odd = new Uint8Array(floats.length + 1);
    odd.set(floats, 1);
    expect(rowsIn(await answer([ask(NHWC, "float32"), odd.subarray(1)]))).toEqual(expectedRows([dog, cat]));
    expect(said).toEqual([]);
  });

  test("asks for a model, loads it, and keeps the last good one", async () => {
    const answer = createAnswerer({ open, log });
    const request = (name: string): Promise<Buffer> =>
      answer([JSON.stringify({ model_request: true, model_name: name })]);
    const send = (name: string, bytes: Uint8Array): Promise<Buffer> =>
      answer([JSON.stringify({ model_data: true, model_name: name }), bytes]);
    const [no, yes] = [false, true].map((is) => ({ model_available: is, model_loaded: is }));
    expect(jsonOf(await request("a.onnx"))).toEqual(no);
    expect(rowsIn(await answer([ask(NHWC), bytesOf([dog])]))).toEqual([]);
    expect(said).toEqual(["got a picture before a model"]);
    expect(jsonOf(await send("a.onnx", network))).toEqual({ model_saved: true, model_loaded: true });
    expect(jsonOf(await request("a.onnx"))).toEqual(yes);
    expect(jsonOf(await request("b.onnx"))).toEqual(no);
    expect(jsonOf(await send("b.onnx", Buffer.from("no model")))).toEqual({
      model_saved: false,
      model_loaded: false,
    });
    expect(said).toHaveLength(2);
    expect(jsonOf(await request("a.onnx"))).toEqual(yes);
    expect(rowsIn(await answer([ask(NHWC), bytesOf([dog])]))).toEqual(expectedRows([dog]));
  });

  test("a model of the command line stands for every name", async () => {
    const head = JSON.stringify({ model_request: true, model_name: "other.onnx" });
    expect(jsonOf(await (await loaded())([head]))).toEqual({ model_available: true, model_loaded: true });
  });

  test.each([
    [ask(NHWC), bytesOf([]).subarray(1), "expected 2304 bytes"],
    [ask([1, 12, 32, 4]), new Uint8Array(1536), "three channels"],
    [ask([2, 24, 32, 3]), new Uint8Array(4608), "one picture"],
    [ask([24, 32, 1, 3]), bytesOf([]), "one picture"],
    [ask([1, -24, -32, 3]), bytesOf([]), "one picture"],
    [ask([1, 1e9, 1e9, 3]), bytesOf([]), "expected 3000000000000000000 bytes"],
    [ask(NHWC, "int64"), bytesOf([]), "input_dtype"],
    [ask(NHWC, "float32"), new Uint8Array(Float32Array.from({ length: 2304 }, () => 2).buffer), "0..1"],
    [ask(NHWC, "float32"), new Uint8Array(Float32Array.from({ length: 2304 }, () => NaN).buffer), "NaN"],
    ["null", bytesOf([]), "one picture"],
    ["[", bytesOf([]), "one picture"],
    ["{}", bytesOf([]), "one picture"],
  ])("answers %s with rows of 0, and says why", async (head, bytes, message) => {
    const answer = await loaded();
    expect(rowsIn(await answer([head, bytes]))).toEqual([]);
    expect(said).toEqual([expect.stringContaining(message)]);
    expect(rowsIn(await answer([ask(NHWC), bytesOf([dog])]))).toEqual(expectedRows([dog]));
  });

  test("answers a request without frames", async () => {
    expect(rowsIn(await (await loaded())([]))).toEqual([]);
  });
});

describeShared("real networks, whole photos", (data) => {
  const recorded = `${data}/recorded`;
  const RFB = { family: "ultraface", labels: ["background", "face"] };
  test.each([
    ["yolox_nano", "coffee", { labels: "coco80" }],
    ["nanodet_m_320", "coffee", { labels: "coco80" }],
    ["FastestDet", "coffee", { family: "fastestdet", labels: "coco80" }],
    ["version-RFB-320", "astronaut", { ...RFB, boxFormat: "xyxy" }],
    ["version-RFB-320_without_postprocessing", "astronaut", { ...RFB, variances: [0.1, 0.1, 0.2, 0.2] }],
  ] as const)("%s finds in %s what its own preparation finds", async (name, photo, options) => {
    const source = {
      model: readFileSync(`${data}/models/${name}.onnx`),
      runtime: onnxRuntime(ort, { logSeverityLevel: 3 }),
    };
    const detector = await createDetector(source, options as object);
    const answer = createAnswerer({ open, detector, log });
    const { width, height, data: rgba } = PNG.sync.read(readFileSync(`${data}/photos/${photo}.png`));
    const rgb = Uint8Array.from(
      { length: width * height * 3 },
      (_, i) => rgba[Math.floor(i / 3) * 4 + (i % 3)],
    );
    const [[classId, score, ...box]] = rowsIn(await answer([ask([1, height, width, 3]), rgb]));
    expect(said).toEqual([]);
    const [best] = (readRecording(recorded, name, photo).meta as unknown as Meta).naiveDetections;
    // The recording counts classes without the background, which is class 0 here.
    expect(classId).toBe("variances" in options || "boxFormat" in options ? best.cls + 1 : best.cls);
    expect(Math.abs(score - best.score)).toBeLessThan(0.02);
    const [x0, y0, x1, y1] = best.box;
    [y0 / height, x0 / width, y1 / height, x1 / width].forEach((value, i) =>
      expect(Math.abs(box[i] - value)).toBeLessThan(0.02),
    );
    await detector.close();
  });
});

/** What the recording's own decoder found. */
interface Meta {
  readonly naiveDetections: readonly { cls: number; score: number; box: readonly number[] }[];
}

/** True if the examples find the package. It is not part of the project: packed.mjs installs it. */
const hasZeroMq = ((): boolean => {
  try {
    return createRequire(exampleUrl("frigate/detector.mjs")).resolve("zeromq") !== "";
  } catch {
    return false;
  }
})();

describe.skipIf(!hasZeroMq)("detector.mjs over ZeroMQ, asked by pyzmq (needs zeromq)", () => {
  const folder = tempFolder();

  /** What frigate-client.py prints. */
  interface Answers {
    readonly before: object;
    readonly sent: object | null;
    readonly after: object;
    readonly answers: number[][][];
  }

  /** Starts the detector at a free port, and asks it for each picture. */
  async function askAll(words: readonly string[], pictures: readonly string[]): Promise<Answers> {
    const program = fileURLToPath(exampleUrl("frigate/detector.mjs"));
    const detector = spawn(process.execPath, [program, "tcp://127.0.0.1:*", ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      for await (const endpoint of createInterface({ input: detector.stdout })) {
        const client = fileURLToPath(new URL("frigate-client.py", import.meta.url));
        const args = [client, endpoint, fixture("detect/network.onnx"), ...pictures];
        const { stdout } = await promisify(execFile)("/usr/bin/python3", args);
        return JSON.parse(stdout) as Answers;
      }
      throw new Error("the detector ended before it listened");
    } finally {
      detector.kill();
    }
  }

  const used = (rows: number[][]): number[][] => rows.filter((row) => row.some((value) => value !== 0));
  const yes = { model_available: true, model_loaded: true };

  test("a model that Frigate sends", async () => {
    const picture = await folder.put("dog.raw", bytesOf([cat, dog]));
    const blank = await folder.put("blank.raw", bytesOf([]));
    const shape = NHWC.join();
    const { before, sent, after, answers } = await askAll(
      [],
      [`${shape} uint8 ${picture}`, `${shape} uint8 ${blank}`, `1,24,96,1 uint8 ${blank}`],
    );
    expect(before).toEqual({ model_available: false, model_loaded: false });
    expect(sent).toEqual({ model_saved: true, model_loaded: true });
    expect(after).toEqual(yes);
    expect(answers.map(used)).toEqual([expectedRows([dog, cat]), [], []]);
  });

  test("a model of the command line, with options", async () => {
    const picture = await folder.put("dog.raw", bytesOf([cat, dog]));
    const words = [fixture("detect/network.onnx"), JSON.stringify({ confidenceThreshold: 0.6 })];
    const { before, sent, answers } = await askAll(words, [`${NHWC.join()} uint8 ${picture}`]);
    expect(before).toEqual(yes);
    expect(sent).toBeNull();
    expect(answers.map(used)).toEqual([expectedRows([dog])]);
  });
});
