/**
 * Damaged and hostile model files: a reader returns a model or throws a ConfigError, and looks at nothing but the
 * file's bytes.
 * `npm run fuzz:models` runs a million mutations in all; a run of `npm test` takes some thousand of each file.
 * `BOXWRIGHT_FUZZ_SEED` moves all seeds.
 */
import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isRefusal } from "../../../src/core/errors.ts";
import { type Model, createDecoderSync, readModel } from "../../../src/entries/index.ts";
import { tar, withZip } from "../../support/archives.ts";
import {
  input,
  output,
  picture,
  ultralyticsJson,
  ultralyticsOnnx,
  ultralyticsTflite,
  yoloxOnnx,
} from "../../support/model-files.ts";
import { block, onnxFile } from "../../support/onnx.ts";
import { mulberry32 } from "../../support/seeded-networks.ts";
import { type TfliteTensor, tfliteFile, tfliteMetadata } from "../../support/tflite.ts";
import { repeats } from "../../support/effort.ts";

const boxes: TfliteTensor = {
  name: "boxes",
  type: "int8",
  shape: [1, 10, 4],
  scale: [0.5, 0.25],
  zeroPoint: [1, 2],
  axis: 2,
};
const config = JSON.stringify({
  model: {
    inputs: [{ name: "images", dtype: "uint8", shape: [1, 3, 32, 64] }],
    outputs: [{ name: "output", dtype: "float32", shape: [1, 84, 6] }],
    heads: [{ parser: "YOLO", metadata: { classes: ["a", "b"], subtype: "yolov8", strides: [8, 16, 32] } }],
  },
});
const archive = tar([
  { name: "net.onnx", data: new Uint8Array(700) },
  { name: "config.json", data: config },
]);

/** Files by name. Those that are unpacked cost more and get fewer mutations. */
const files: readonly { readonly name: string; readonly bytes: Uint8Array; readonly share: number }[] = [
  { name: "ONNX of Ultralytics", bytes: ultralyticsOnnx(), share: 3 },
  { name: "ONNX of YOLOX", bytes: yoloxOnnx([{ operator: "Exp", inputs: ["a"], output: "b" }]), share: 3 },
  {
    name: "ONNX with weights among the inputs",
    bytes: onnxFile({
      inputs: [input(1, 3, "h", "w"), input(1)],
      outputs: [output("x", 1, "n", 85)],
      weights: ["images"],
    }),
    share: 3,
  },
  {
    name: "TFLite",
    bytes: tfliteFile({ inputs: [picture], outputs: [boxes], signature: { inputs: ["a"], outputs: ["b"] } }),
    share: 3,
  },
  {
    name: "TFLite with an operator, TFLite Metadata and labels",
    bytes: withZip(
      tfliteFile({
        inputs: [picture],
        outputs: [boxes, boxes, boxes, boxes],
        operator: { name: "TFLite_Detection_PostProcess", outputs: [0, 1, 2, 3] },
        metadata: tfliteMetadata("name", [{ name: "labels.txt", type: 2 }], [1], [2]),
      }),
      [{ name: "labels.txt", text: "a\nb\n", stored: true }],
    ),
    share: 3,
  },
  {
    name: "TFLite of Ultralytics, metadata stored",
    bytes: withZip(
      tfliteFile({ inputs: [picture], outputs: [boxes] }),
      [{ name: "metadata.json", text: ultralyticsJson(), stored: true }],
      false,
    ),
    share: 3,
  },
  { name: "TFLite of Ultralytics, metadata deflated", bytes: ultralyticsTflite(), share: 1 },
  { name: "NN Archive", bytes: archive, share: 2 },
  { name: "NN Archive, gzipped", bytes: Uint8Array.from(gzipSync(archive)), share: 1 },
];
const shares = files.reduce((sum, { share }) => sum + share, 0);
const total = Number(process.env["BOXWRIGHT_FUZZ"] ?? repeats(22_000, 4_400));

/** Returns whole numbers below the one it is given, the same ones for a seed. */
function dice(seed: number): (below: number) => number {
  const random = mulberry32(seed);
  return (below) => Math.floor(random() * below);
}

const LIES = [0, 1, 2, 4, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

/** Returns a changed copy: bytes and words overwritten, parts cut, doubled, or taken from another file. */
function mutate(bytes: Uint8Array, roll: (below: number) => number): Uint8Array {
  let out = Buffer.from(bytes);
  for (let n = 1 + roll(4); n > 0; n--) {
    const at = roll(out.length + 1);
    const part = Buffer.from(out.subarray(at, at + roll(40)));
    const kind = roll(7);
    if (kind < 2 && at < out.length) out[at] = roll(256);
    else if (kind === 2 && at + 4 <= out.length) out.writeUInt32LE(LIES[roll(LIES.length)], at);
    else if (kind === 3 && at + 4 <= out.length) out.writeUInt32LE(roll(out.length * 2), at);
    else if (kind === 4) out = out.subarray(0, at);
    else if (kind === 5) out = Buffer.concat([out.subarray(0, at), part, out.subarray(at)]);
    else {
      const other = files[roll(files.length)].bytes;
      const from = roll(other.length);
      out = Buffer.concat([out.subarray(0, at), other.subarray(from, from + roll(60)), out.subarray(at)]);
    }
  }
  return Uint8Array.from(out);
}

/** Returns the model or the error's message. Any other error fails the test. */
async function answer(bytes: Uint8Array, what: string): Promise<Model | string> {
  try {
    return await readModel(bytes);
  } catch (e) {
    if ((e as Error).name !== "ConfigError") throw new Error(`${what}: ${String(e)}`, { cause: e });
    return (e as Error).message;
  }
}

/** A decoder of the model works, or is refused with reasons. */
function tryDecoder(model: Model, what: string): void {
  try {
    createDecoderSync(model, { engine: "ts" }).describe();
  } catch (e) {
    if (!isRefusal(e)) throw new Error(`${what}: ${String(e)}`, { cause: e });
  }
}

/** Bytes of objects and of arrays in this process. */
function held(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe.each(files)("$name", ({ bytes, share }) => {
  const seed =
    files.findIndex((file) => file.bytes === bytes) + 1 + Number(process.env["BOXWRIGHT_FUZZ_SEED"] ?? 0);
  const runs = Math.ceil((total * share) / shares);

  test(
    `${runs} mutations: a model or a ConfigError, and nothing is read outside`,
    { timeout: 0 },
    async () => {
      const roll = dice(seed);
      let read = 0;
      let slowest = 0;
      let most = 0;
      for (let i = 0; i < runs; i++) {
        const changed = mutate(bytes, roll);
        const what = `mutation ${i} of seed ${seed}`;
        const start = performance.now();
        const before = held();
        const got = await answer(changed, what);
        // What was collected meanwhile counts less: a busy machine makes the growth of one call smaller, never larger.
        most = Math.max(most, held() - before);
        slowest = Math.max(slowest, performance.now() - start);
        if (typeof got !== "string") {
          read++;
          if (read % 8 === 0) tryDecoder(got, what);
        }
        if (i % 4 !== 0) continue;
        // The same bytes inside a larger buffer: what stands around them makes no difference.
        const around = new Uint8Array(changed.length + 512).fill(roll(256));
        around.set(changed, 256);
        expect(await answer(around.subarray(256, 256 + changed.length), what)).toEqual(got);
      }
      expect(read).toBeLessThan(runs);
      const mebibytes = (most / 2 ** 20).toFixed(1);
      console.log(
        `seed ${seed}: ${runs} mutations, ${read} models, slowest ${slowest.toFixed(1)} ms, at most ${mebibytes} MiB`,
      );
      // Files are kilobytes: a reader that believes a forged size takes far more.
      expect(most).toBeLessThan(64 * 2 ** 20);
    },
  );
});

/** Files of about a megabyte whose small parts stand for much. */
const hostile: Record<string, Uint8Array> = {
  // each input has 32 dimensions of two bytes
  "ONNX: 10,000 inputs of 32 dimensions": Uint8Array.from(
    block(
      7,
      Array.from({ length: 10_000 }, (_, i) =>
        block(11, [
          block(1, `${i}`),
          block(2, [
            block(1, [
              block(
                2,
                Array.from({ length: 32 }, () => block(1, [])),
              ),
            ]),
          ]),
        ]),
      ),
    ),
  ),
  "ONNX: 400,000 operators of one kind": Uint8Array.from(
    block(
      7,
      Array.from({ length: 400_000 }, () => block(1, [])),
    ),
  ),
  "ONNX: 256 texts": onnxFile({
    inputs: [],
    outputs: [],
    metadata: Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`k${i}`, "x".repeat(4000)])),
  }),
  "ONNX: a text of a million": Uint8Array.from([...block(6, "[".repeat(1 << 20)), ...block(7, [])]),
  "TFLite: 128 outputs of 4,096 scales": tfliteFile({
    inputs: [],
    outputs: Array.from({ length: 128 }, () => ({
      ...boxes,
      scale: Array<number>(4096).fill(1),
      zeroPoint: [],
    })),
  }),
  // one table of 33 kB stands for all of them
  "TFLite: one output 128 times": tfliteFile({
    inputs: [],
    outputs: [{ ...boxes, name: "x".repeat(4096), scale: Array<number>(4096).fill(1), zeroPoint: [] }],
    repeated: 128,
  }),
  "zip: metadata of a million brackets": withZip(tfliteFile({ inputs: [], outputs: [] }), [
    { name: "a.txt", text: `{0:${"[],".repeat(300_000)}` },
    { name: "b.txt", text: `{0:[${"{},".repeat(199_000)}]}` },
  ]),
};

test.each(Object.entries(hostile))("%s: memory stays below 4 times the file and 32 MB", (_, bytes) => {
  const child = `
    const { readFileSync } = await import("node:fs");
    const bytes = readFileSync(0);
    const { readModel } = await import("./dist/index.mjs");
    await readModel(bytes).catch((e) => { if (e.name !== "ConfigError") throw e; });
    console.log("done");`;
  // The heap's limit stops a reader that takes more.
  const heap = Math.ceil((4 * bytes.length) / 2 ** 20) + 32;
  const args = [
    `--max-old-space-size=${heap}`,
    "--max-semi-space-size=2",
    "--input-type=module",
    "-e",
    child,
  ];
  const root = new URL("../../../", import.meta.url);
  expect(
    execFileSync(process.execPath, args, { cwd: root, input: bytes, encoding: "utf8", stdio: "pipe" }),
  ).toBe("done\n");
});
