/** Our rows of a picture, in Node and in a page. */
import type * as Boxwright from "../../src/entries/index.ts";
import type * as Prepare from "../../src/entries/index.ts";
import { optionsOf } from "../typed-options.ts";
import { frameWorkload } from "./frame.ts";
import type { PictureBox, PictureSpec } from "./picture.ts";

/** Functions of the built package that the rows call. */
export interface Package {
  readonly createDecoder: typeof Boxwright.createDecoder;
  readonly prepareImage: typeof Prepare.prepareImage;
}

/** The measured work of a row. `run` returns a value of the result, never 0, so that compilers keep the work. */
export interface PictureRun {
  run(): number | Promise<number>;
  /** The tensor of the last run, or its boxes in pixels of the picture. */
  answer(): Float32Array | readonly PictureBox[];
}

/** Prepares a row. `pixels` returns the bytes for each run. Memory is reused, as for a stream of frames. */
export async function prepareOurs(
  { createDecoder, prepareImage }: Package,
  spec: PictureSpec,
  engine: Prepare.EngineName,
  pixels: () => Uint8Array | Uint8ClampedArray,
): Promise<PictureRun> {
  const { width, height, side } = spec;
  const into = new Float32Array(3 * side * side);
  const rule = Object.freeze({ size: [side, side], factor: 1 / 255 } as const);
  const prepare = (): Prepare.Prepared =>
    prepareImage({ data: pixels(), width, height }, rule, { engine, into });
  if (spec.expected !== null) return { run: () => prepare().tensor.data.length, answer: () => into };
  const workload = frameWorkload();
  const decoder = await createDecoder(optionsOf(workload), { engine });
  let found: Boxwright.Detections | undefined;
  return {
    run() {
      const { frame } = prepare();
      return (found = decoder.decode(workload.tensors, frame)).length;
    },
    answer: () =>
      (found?.toArray() ?? []).map(({ class_id, confidence, x_min, y_min, x_max, y_max }) => [
        class_id,
        confidence,
        x_min * width,
        y_min * height,
        x_max * width,
        y_max * height,
      ]),
  };
}
