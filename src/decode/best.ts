/** The best score of a frame. It is found also where nothing passed the threshold. */
import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";
import type { Engine } from "../engine/engine.ts";
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
  const lengths = ready.detections.map((d) => d.length);
  const isEmpty = lengths.every((length) => length === 0);
  if (!isEmpty) return bestOf(ready, A.P_DET_SCORES, (image) => lengths[image]);
  return isWhole ? bestOf(ready, A.P_SCORES, (image) => scanAll(ready.engine, ready.blocks[image])) : null;
}

/**
 * Returns the highest score above 0; the first of equals.
 * @param word of a plan block that holds the address of the scores; those of class ids and sources follow it
 * @param lengthOf returns how many scores an image has, after it has written them
 */
function bestOf(
  { engine, blocks, detections }: Ready,
  word: number,
  lengthOf: (image: number) => number,
): Best | null {
  const { i32, f32 } = engine.memory;
  let best: Best | null = null;
  blocks.forEach((block, image) => {
    const [scores, classIds, sources] = [0, 1, 2].map((k) => i32[(block >> 2) + word + k] >> 2);
    for (let i = 0, length = lengthOf(image); i < length; i++) {
      const confidence = f32[scores + i];
      if (confidence <= (best?.confidence ?? 0)) continue;
      const class_id = i32[classIds + i];
      const label = detections[image].labels?.[class_id] ?? String(class_id);
      best = { confidence, class_id, label, source: i32[sources + i], image };
    }
  });
  return best;
}

/**
 * Scans an image again for every score above 0, and returns how many there are. The kernel computes the scores, so they
 * agree for every kind of head. The detections are not touched. Flags and head records are restored.
 */
function scanAll({ memory, scan }: Engine, block: number): number {
  const { i32 } = memory;
  const p = block >> 2;
  const flags = i32[p + A.P_FLAGS];
  const first = i32[p + A.P_HEAD0] >> 2;
  const saved = i32.slice(first, first + i32[p + A.P_HEADS] * A.HEAD_WORDS);
  // The score of a box outside the image counts too.
  i32[p + A.P_FLAGS] &= ~A.FLAG_CLAMP_BEFORE;
  for (const r of recordsOf(memory, block)) passAboveZero(memory, r);
  const length = scan(block);
  i32[p + A.P_FLAGS] = flags;
  i32.set(saved, first);
  return length;
}

/** Sets the thresholds of a head record so that every score above 0 passes, and every objectness above 0. */
function passAboveZero(memory: Memory, r: number): void {
  const { i32, f32 } = memory;
  f32[r + A.H_THRESHOLD] = SMALLEST;
  i32[r + A.H_CLASS_THRESHOLDS] = 0;
  passRawAboveZero(memory, r + A.H_SCORE_TYPE, r + A.H_SCORE_SCALE);
  passRawAboveZero(memory, r + A.H_OBJ_TYPE, r + A.H_OBJ_SCALE);
  // The raw threshold of a softmax counts from the largest logit down.
  if (i32[r + A.H_SCORE_FN] === A.FN_SOFTMAX) f32[r + A.H_SCORE_RAW_THRESHOLD] = -3.4e38;
}

/** The smallest f32 above 0. */
const SMALLEST = 2 ** -149;
/** The sigmoid of a lower logit is 0 in f32. */
const LOWEST_LOGIT = -103.9;
/** The same as the key of an f16. */
const LOWEST_HALF = -22143;

/**
 * Sets a raw threshold to the least element whose value is above 0. Scale, zero point, function and raw threshold are
 * neighbours in a record.
 */
function passRawAboveZero({ i32, f32 }: Memory, type: number, scale: number): void {
  const isPlain = i32[scale + 2] === A.FN_NONE;
  const zeroPoint = f32[scale + 1];
  if (i32[type] === A.TYPE_F32) f32[scale + 3] = isPlain ? SMALLEST : LOWEST_LOGIT;
  else if (i32[type] === A.TYPE_F16) i32[scale + 3] = isPlain ? 1 : LOWEST_HALF;
  else
    i32[scale + 3] = isPlain
      ? Math.floor(zeroPoint) + 1
      : Math.max(-(2 ** 31), Math.ceil(zeroPoint + LOWEST_LOGIT / f32[scale]));
}
