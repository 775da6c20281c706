/** Measures one row in this process: `node --import ./bench/ts.mjs bench/pictures/row.ts TASK`. Prints JSON. */
import { createHash } from "node:crypto";
import type * as Prepare from "../../src/entries/prepare.ts";
import { timeOf } from "../measure.ts";
import { type PictureEngine, type PictureSpec, pixelsOf } from "./picture.ts";
import { letterbox, nearest } from "./usual-js.ts";

export interface PictureTask {
  readonly spec: PictureSpec;
  readonly engine: PictureEngine;
  /** URL of the entry `boxwright/prepare`. */
  readonly entry: string;
  readonly milliseconds: number;
}

/** Returns a function that makes the tensor. Ours writes into memory that stays, as a stream of frames does. */
async function makerOf({ spec, engine, entry }: PictureTask): Promise<() => Float32Array> {
  const pixels = pixelsOf(spec);
  if (engine === "js") return () => letterbox(pixels, spec);
  if (engine === "js-nearest") return () => nearest(pixels, spec);
  const { prepareImage } = (await import(entry)) as typeof Prepare;
  const { width, height, side } = spec;
  const into = new Float32Array(3 * side * side);
  const rule = { size: [side, side], factor: 1 / 255 } as const;
  const options = { engine: engine as Prepare.EngineName, into };
  return () => prepareImage({ data: pixels, width, height }, rule, options).tensor.data as Float32Array;
}

async function measure(task: PictureTask): Promise<object> {
  const make = await makerOf(task);
  const timing = await timeOf(() => make().length, task.milliseconds);
  const { buffer, byteOffset, byteLength } = make();
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return { status: "ok", timing, digest: createHash("sha256").update(bytes).digest("hex").slice(0, 16) };
}

const result = await measure(JSON.parse(process.argv[2]) as PictureTask).catch((error: unknown) => ({
  status: "failed",
  reason: String(error).split("\n", 1)[0],
}));
process.stdout.write(`\n${JSON.stringify(result)}\n`);
