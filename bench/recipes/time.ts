/** Times the stages of one recipe. Runs in Node and in a page, so it uses no API of either. */
import type { Decoder, Detections } from "../../src/entries/index.ts";

/** Result of a recipe's `open`. */
export interface Opened {
  readonly decoder: Decoder;
  run(image: Float32Array, shape: readonly number[]): unknown;
  decode(output: unknown): Detections;
}

/** Median microseconds of a frame, and the detections of the first frame. */
export interface Timed {
  readonly run: number;
  /** Passing the network's output to the decoder, and decoding. */
  readonly decode: number;
  /** Copying the tensor into the slot. */
  readonly copy: number;
  /** Decoding the tensor in the slot, without a copy. */
  readonly resident: number;
  readonly count: number;
  readonly boxes: number[];
  readonly scores: number[];
  readonly classIds: number[];
}

/** Runs a recipe for a number of frames. Warms up with a third of them first. */
export async function timeRecipe(
  { decoder, run, decode }: Opened,
  image: Float32Array,
  shape: readonly number[],
  frames: number,
): Promise<Timed> {
  const columns = { run: [], decode: [], copy: [], resident: [] } as Record<string, number[]>;
  const median = (list: number[]): number => 1000 * list.sort((a, b) => a - b)[list.length >> 1];
  let found: Pick<Timed, "count" | "boxes" | "scores" | "classIds"> | undefined;
  for (let i = -Math.ceil(frames / 3); i < frames; i++) {
    const start = performance.now();
    const output = await run(image, shape);
    const handed = performance.now();
    const { length, boxes, scores, classIds } = decode(output);
    const decoded = performance.now();
    found ??= {
      count: length,
      boxes: Array.from(boxes.subarray(0, 4 * length)),
      scores: Array.from(scores.subarray(0, length)),
      classIds: Array.from(classIds.subarray(0, length)),
    };
    // Time a copy of the same tensor, and a decode in the slot, separately.
    const slot = Object.values(decoder.slots)[0].data as Float32Array;
    const before = performance.now();
    slot.set(image);
    const copied = performance.now();
    decoder.decode();
    const after = performance.now();
    if (i < 0) continue;
    columns.run.push(handed - start);
    columns.decode.push(decoded - handed);
    columns.copy.push(copied - before);
    columns.resident.push(after - copied);
  }
  if (found === undefined) throw new Error("timeRecipe was called with no frames.");
  return {
    ...found,
    run: median(columns.run),
    decode: median(columns.decode),
    copy: median(columns.copy),
    resident: median(columns.resident),
  };
}
