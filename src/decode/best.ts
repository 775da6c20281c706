/** The best score of a frame. It is found also where nothing passed the threshold. */
import * as A from "../core/abi.ts";
import { type MemoryImage, type Thresholds, writeThresholds } from "../memory/write.ts";
import type { Detections } from "./detections.ts";
import type { Ready } from "./loop.ts";

/** The best score of a frame, and where it came from. */
export interface Best {
  /** 0..1. It passes the threshold if the frame has candidates. */
  readonly confidence: number;
  readonly class_id: number;
  /** The config's label, or the class id as text if it has none. */
  readonly label: string;
  /** Index of its cell, as in `Detections.sources`. */
  readonly source: number;
  /** Index of its image in the batch. */
  readonly image: number;
}

type Work = MemoryImage & Ready;

/**
 * Returns the best score of the frame that was decoded last; null if every score is 0 or NaN, or if memory does not
 * hold the whole frame.
 * @param isWhole false: the tensors in memory are only the rows that were gathered
 */
export function findBest(work: Work, thresholds: Thresholds, isWhole: boolean): Best | null {
  // Suppression keeps the best candidate, whatever the rules are.
  const found = bestOf(
    work,
    work.detections.map((d, image) => ({ ...d, length: d.length, image })),
  );
  return found === null && isWhole ? scanAll(work, thresholds) : found;
}

/** Scores, class ids and cells of one image. */
interface Columns extends Pick<Detections, "length" | "scores" | "classIds" | "sources"> {
  readonly image: number;
}

/** Returns the highest score; the first of equals. */
function bestOf({ detections }: Work, columns: readonly Columns[]): Best | null {
  let best: Best | null = null;
  for (const { length, scores, classIds, sources, image } of columns)
    for (let i = 0; i < length; i++) {
      if (best !== null && scores[i] <= best.confidence) continue;
      const class_id = classIds[i];
      const label = detections[image].labels?.[class_id] ?? String(class_id);
      best = { confidence: scores[i], class_id, label, source: sources[i], image };
    }
  return best;
}

/**
 * Scans each image again with threshold 0. The kernel computes the scores, so they agree for every kind of head. The
 * detections are not touched. The plan blocks are restored.
 */
function scanAll(work: Work, thresholds: Thresholds): Best | null {
  const { engine, blocks } = work;
  const { i32, f32 } = work.memory;
  const saved = blocks.map((block) => i32.slice(block >> 2, (block >> 2) + A.PLAN_WORDS));
  writeThresholds(work, { ...thresholds, confidenceThreshold: 0 });
  const candidates = blocks.map((block, image) => {
    const p = block >> 2;
    // The score of a box outside the image counts too.
    i32[p + A.P_FLAGS] &= ~A.FLAG_CLAMP_BEFORE;
    const length = engine.scan(block);
    // The images share the candidate columns, so each is copied before the next scan.
    const column = (word: number): [number, number] => [i32[p + word] >> 2, (i32[p + word] >> 2) + length];
    return {
      length,
      image,
      scores: f32.slice(...column(A.P_SCORES)),
      classIds: i32.slice(...column(A.P_CLASS_IDS)),
      sources: new Uint32Array(i32.slice(...column(A.P_SOURCES))),
    };
  });
  writeThresholds(work, thresholds);
  blocks.forEach((block, image) => i32.set(saved[image], block >> 2));
  return bestOf(work, candidates);
}
