/** Measures one row in this process: `node --import ./bench/ts.mjs bench/pictures/row.ts TASK`. Prints JSON. */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import type * as Prepare from "../../src/entries/index.ts";
import { timeOf } from "../measure.ts";
import { prepare as prepareJs } from "../peers/usual-js.ts";
import { frameWorkload, pictureBoxes } from "./frame.ts";
import { type Package, type PictureRun, prepareOurs } from "./ours.ts";
import { type PictureEngine, type PictureSpec, pixelsOf } from "./picture.ts";
import { letterbox, nearest } from "./usual-js.ts";

export interface PictureTask {
  readonly spec: PictureSpec;
  readonly engine: PictureEngine;
  /** URLs of the entries that decode and prepare. */
  readonly entries: readonly [decoder: string, prepare: string];
  readonly milliseconds: number;
  /** Path of the package sharp, if the row needs it. */
  readonly sharp?: string;
}

/** Measures the usual loop, and for a whole frame also the usual decode after that loop. */
function usualJs(spec: PictureSpec, prepare: typeof letterbox): PictureRun {
  const pixels = pixelsOf(spec);
  let tensor: Float32Array = new Float32Array(0);
  const run = (): number => (tensor = prepare(pixels, spec)).length;
  if (spec.expected !== null) return { run, answer: () => tensor };
  const decoder = prepareJs(frameWorkload());
  return {
    run: () => (run(), decoder.run() as number),
    answer: () => pictureBoxes(spec, decoder.answer()),
  };
}

/** The part of the API of sharp that this file calls. */
type Sharp = (data: Uint8Array, options: object) => SharpImage;
interface SharpImage {
  removeAlpha(): SharpImage;
  resize(width: number, height: number, options: object): SharpImage;
  raw(): SharpImage;
  toBuffer(): Promise<Uint8Array>;
}

/** Measures sharp, which resizes and pads on one thread. A loop converts its bytes to planes. */
function withSharp({ spec, sharp: path = "" }: PictureTask): PictureRun {
  const sharp = createRequire(import.meta.url)(path) as Sharp & { concurrency(threads: number): void };
  sharp.concurrency(1);
  const { width, height, side } = spec;
  const pixels = pixelsOf(spec);
  const tensor = new Float32Array(3 * side * side);
  const background = { r: 114, g: 114, b: 114 };
  return {
    async run() {
      const image = sharp(pixels, { raw: { width, height, channels: 4 } }).removeAlpha();
      const bytes = await image
        .resize(side, side, { fit: "contain", background, kernel: "linear" })
        .raw()
        .toBuffer();
      const plane = side * side;
      for (let i = 0; i < plane; i++)
        for (let c = 0; c < 3; c++) tensor[c * plane + i] = bytes[i * 3 + c] / 255;
      return tensor.length;
    },
    answer: () => tensor,
  };
}

async function runOf(task: PictureTask): Promise<PictureRun> {
  const { spec, engine, entries } = task;
  if (engine === "js") return usualJs(spec, letterbox);
  if (engine === "js-nearest") return usualJs(spec, nearest);
  if (engine === "sharp") return withSharp(task);
  const [decoder, prepare] = (await Promise.all(entries.map((entry) => import(entry)))) as Package[];
  const boxwright = { createDecoder: decoder.createDecoder, prepareImage: prepare.prepareImage };
  const pixels = pixelsOf(spec);
  return prepareOurs(boxwright, spec, engine as Prepare.EngineName, () => pixels);
}

async function measure(task: PictureTask): Promise<object> {
  const prepared = await runOf(task);
  const timing = await timeOf(() => prepared.run(), task.milliseconds);
  await prepared.run();
  const answer = prepared.answer();
  if (!(answer instanceof Float32Array)) return { status: "ok", timing, boxes: answer };
  const bytes = new Uint8Array(answer.buffer, answer.byteOffset, answer.byteLength);
  return { status: "ok", timing, digest: createHash("sha256").update(bytes).digest("hex").slice(0, 16) };
}

const result = await measure(JSON.parse(process.argv[2]) as PictureTask).catch((error: unknown) => ({
  status: "failed",
  reason: String(error).split("\n", 1)[0],
}));
process.stdout.write(`\n${JSON.stringify(result)}\n`);
