/** Finds the best score of a frame, even if no score passed the threshold. */
import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";
import type { Engine } from "../engine/engine.ts";
import type { Ready } from "./loop.ts";

/** The best score of a frame, and the cell that has it. */
export interface Best {
  /** Score in (0, 1]. Above the threshold if the frame has candidates. */
  readonly confidence: number;
  readonly class_id: number;
  /** Label from the config. If there are no labels, the class id as text. */
  readonly label: string;
  /** Index of the cell, as in `Detections.sources`. */
  readonly source: number;
  /** Index of the image in the batch. */
  readonly image: number;
}

/** Returns the word addresses of the head records of a plan block. */
export function recordsOf({ i32 }: Memory, block: number): number[] {
  const p = block >> 2;
  const first = i32[p + A.P_HEAD0] >> 2;
  return Array.from({ length: i32[p + A.P_HEADS] }, (_, i) => first + i * A.HEAD_WORDS);
}

/**
 * Returns the detection with the highest score of the last decoded frame. If the frame has no detections, scans it
 * again with a threshold of 0. Returns null if no score is above 0, or if memory does not hold the whole frame.
 * @param isWhole false if memory holds only the gathered rows of the tensors
 */
export function findBest(ready: Ready, isWhole: boolean): Best | null {
  // Compare only the detections: suppression keeps the best candidate under every rule.
  const lengths = ready.detections.map((d) => d.length);
  const isEmpty = lengths.every((length) => length === 0);
  if (!isEmpty) return bestOf(ready, A.P_DET_SCORES, (image) => lengths[image]);
  return isWhole
    ? bestOf(ready, A.P_SCORES, (image) => rescanAboveZero(ready.engine, ready.blocks[image]))
    : null;
}

/**
 * Returns the highest score above 0. Returns the first of equal scores.
 * @param word index of the word in a plan block that holds the address of the scores. The next two words hold the
 * addresses of the class ids and the sources.
 * @param lengthOf returns the count of an image's scores. May scan first, so call it before the scores are read.
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
 * Scans an image again with a threshold of 0, and returns the count of candidates. The kernel computes the scores, so
 * they are correct for every kind of head. Restores flags and head records. Does not change the detections.
 */
function rescanAboveZero({ memory, scan }: Engine, block: number): number {
  const { i32 } = memory;
  const p = block >> 2;
  const flags = i32[p + A.P_FLAGS];
  const first = i32[p + A.P_HEAD0] >> 2;
  const saved = i32.slice(first, first + i32[p + A.P_HEADS] * A.HEAD_WORDS);
  // Count boxes outside the image too: the clamp would drop them before their score counts.
  i32[p + A.P_FLAGS] &= ~A.FLAG_CLAMP_BEFORE;
  for (const record of recordsOf(memory, block)) acceptAboveZero(memory, record);
  const length = scan(block);
  i32[p + A.P_FLAGS] = flags;
  i32.set(saved, first);
  return length;
}

/** Sets the thresholds of a head record so that every score and every objectness above 0 passes. */
function acceptAboveZero(memory: Memory, r: number): void {
  const { i32, f32 } = memory;
  f32[r + A.H_THRESHOLD] = SMALLEST;
  i32[r + A.H_CLASS_THRESHOLDS] = 0;
  acceptRawAboveZero(memory, r + A.H_SCORE_TYPE, r + A.H_SCORE_SCALE);
  acceptRawAboveZero(memory, r + A.H_OBJ_TYPE, r + A.H_OBJ_SCALE);
  // Set the lowest f32. A softmax compares the distance to the largest logit, and that distance has no lower bound.
  if (i32[r + A.H_SCORE_FN] === A.FN_SOFTMAX) f32[r + A.H_SCORE_RAW_THRESHOLD] = -3.4e38;
}

/** Smallest f32 above 0. */
const SMALLEST = 2 ** -149;
/** Lowest logit whose sigmoid is above 0 in f32: exp(-103.9) is just above half of 2^-149, the smallest f32. */
const LOWEST_LOGIT = -103.9;
/** `LOWEST_LOGIT` as the kernel's sortable key of an f16. */
const LOWEST_HALF = -22143;

/**
 * Sets a raw threshold to the lowest element whose activated value is above 0. `scale`: word address of the scale. Zero
 * point, activation and raw threshold follow in the next words.
 */
function acceptRawAboveZero({ i32, f32 }: Memory, type: number, scale: number): void {
  const isPlain = i32[scale + 2] === A.FN_NONE;
  const zeroPoint = f32[scale + 1];
  if (i32[type] === A.TYPE_F32) f32[scale + 3] = isPlain ? SMALLEST : LOWEST_LOGIT;
  else if (i32[type] === A.TYPE_F16) i32[scale + 3] = isPlain ? 1 : LOWEST_HALF;
  else
    i32[scale + 3] = isPlain
      ? Math.floor(zeroPoint) + 1
      : Math.max(-(2 ** 31), Math.ceil(zeroPoint + LOWEST_LOGIT / f32[scale]));
}
