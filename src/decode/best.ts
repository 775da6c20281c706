/** The best score of a frame. It is found also where nothing passed the threshold. */
import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";
import { sigmoid } from "../core/number.ts";
import { ELEMENTS, TYPES } from "../core/tensor.ts";
import { rawThreshold, smallestPassing } from "../memory/thresholds.ts";
import type { Ready } from "./loop.ts";

/** The best score of a frame, and where it came from. */
export interface Best {
  /** Above 0, up to 1. It passes the threshold if the frame has candidates. */
  readonly confidence: number;
  readonly class_id: number;
  /** The config's label, or the class id as text if it has none. */
  readonly label: string;
  /** Index of its cell, as in `Detections.sources`. */
  readonly source: number;
  /** Index of its image in the batch. */
  readonly image: number;
}

/** Returns where the head records of a plan block stand, as indices of their first words. */
export function recordsOf({ i32 }: Memory, block: number): number[] {
  const p = block >> 2;
  const first = i32[p + A.P_HEAD0] >> 2;
  return Array.from({ length: i32[p + A.P_HEADS] }, (_, i) => first + i * A.HEAD_WORDS);
}

/**
 * Returns the first detection of the frame that was decoded last. A frame without detections is scanned again with a
 * threshold of 0; null if no score is above 0, or if memory does not hold the whole frame.
 * @param isWhole false: the tensors in memory are only the rows that were gathered
 */
export function findBest(ready: Ready, isWhole: boolean): Best | null {
  // Suppression keeps the best candidate, whatever the rules are.
  let best: Best | null = null;
  ready.detections.forEach((d, image) => {
    best = better(best, ready, image, d.length, d.scores, d.classIds, d.sources);
  });
  return best === null && isWhole && ready.detections.every((d) => d.length === 0) ? scanAll(ready) : best;
}

/** Returns the highest score above 0 of `best` and the columns of an image; the first of equals. */
function better(
  best: Best | null,
  { detections }: Ready,
  image: number,
  length: number,
  scores: Float32Array,
  classIds: Int32Array,
  sources: Int32Array | Uint32Array,
): Best | null {
  for (let i = 0; i < length; i++) {
    const confidence = scores[i];
    if (confidence <= (best?.confidence ?? 0)) continue;
    const class_id = classIds[i];
    const label = detections[image].labels?.[class_id] ?? String(class_id);
    best = { confidence, class_id, label, source: sources[i], image };
  }
  return best;
}

/**
 * Scans each image again for every score above 0. The kernel computes the scores, so they agree for every kind of head.
 * The detections are not touched. Plan blocks and head records are restored.
 */
function scanAll(ready: Ready): Best | null {
  const { engine, blocks } = ready;
  const { i32, f32 } = engine.memory;
  let best: Best | null = null;
  blocks.forEach((block, image) => {
    const p = block >> 2;
    const records = recordsOf(engine.memory, block);
    const saved = [...records.map((r) => [r, A.HEAD_WORDS]), [p, A.PLAN_WORDS]].map(
      ([at, words]) => [at, i32.slice(at, at + words)] as const,
    );
    // The score of a box outside the image counts too.
    i32[p + A.P_FLAGS] &= ~A.FLAG_CLAMP_BEFORE;
    for (const r of records) passAboveZero(engine.memory, r);
    const length = engine.scan(block);
    const column = <T extends { subarray(from: number): T }>(words: T, word: number): T =>
      words.subarray(i32[p + word] >> 2);
    best = better(
      best,
      ready,
      image,
      length,
      column(f32, A.P_SCORES),
      column(i32, A.P_CLASS_IDS),
      column(i32, A.P_SOURCES),
    );
    for (const [at, words] of saved) i32.set(words, at);
  });
  return best;
}

/** Sets the thresholds of a head record so that every score above 0 passes, and every objectness above 0. */
function passAboveZero({ i32, f32 }: Memory, r: number): void {
  f32[r + A.H_THRESHOLD] = smallestPassing(0, ">");
  i32[r + A.H_CLASS_THRESHOLDS] = 0;
  const isSoftmax = i32[r + A.H_SCORE_FN] === A.FN_SOFTMAX;
  lower({ i32, f32 }, r + A.H_SCORE_TYPE, r + A.H_SCORE_SCALE);
  if (i32[r + A.H_OBJ] !== 0) lower({ i32, f32 }, r + A.H_OBJ_TYPE, r + A.H_OBJ_SCALE);
  // The raw threshold of a softmax counts from the largest logit down.
  if (isSoftmax) f32[r + A.H_SCORE_RAW_THRESHOLD] = -3.4e38;
}

/**
 * Sets a raw threshold to the least element whose value is above 0. Scale, zero point, function and raw threshold are
 * neighbours in a record.
 */
function lower({ i32, f32 }: Pick<Memory, "i32" | "f32">, typeAt: number, scaleAt: number): void {
  const type = TYPES.find((t) => ELEMENTS[t].code === i32[typeAt]) ?? "f32";
  const isPlain = i32[scaleAt + 2] === A.FN_NONE;
  const raw = rawThreshold(
    { type, scale: f32[scaleAt], zeroPoint: f32[scaleAt + 1] },
    (x) => Math.fround(isPlain ? x : sigmoid(x)) > 0,
  );
  (type === "f32" ? f32 : i32)[scaleAt + 3] = raw;
}
