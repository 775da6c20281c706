/**
 * Room 3: Plan -> addresses. Pure arithmetic; the memory map is drawn here, once:
 *
 *       0  nothing: a zero address is a bug, not data
 *      64  plan block of image 0, 1, ... of the batch, then one for gathered input
 *          head records of each plan block
 *          class lists, class gates, prior tables
 *          tensor slots            16-aligned, 16 bytes of slack after each: a vector load of the last element stays inside
 *          candidates              scores f32 | labels i32 | sources u32 | boxes f32 x 4       28 bytes a cell
 *          order u32 | spare u32                                                              8 bytes a cell
 *          gathered cell numbers u32                                                          4 bytes a cell
 *          scratch                 of scan, sort and nms, which never run at once, in the same place
 *          detections of image 0, 1, ...: boxes f32 x 4 | scores f32 | labels i32 | sources u32
 */
import { CHAINS, HEAD_WORDS, KEPT_BYTES, PLAN_WORDS, SCAN_BYTES } from "./abi.ts";
import type { Plan } from "./plan.ts";
import { ELEMENTS, volume } from "./tensor.ts";

export interface DetectionColumns {
  readonly boxes: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
}

export interface Layout {
  /** Plan blocks, one per image. */
  readonly plans: readonly number[];
  /** Head records of each plan block. */
  readonly heads: readonly number[];
  /** Plan block and head records for gathered input; 0 where the plan cannot gather. */
  readonly gatherPlan: number;
  readonly gatherHeads: number;
  readonly gatherIndex: number;
  /** Per head: address of its class list and class gates (room for all its classes), and prior table; 0: none. */
  readonly classLists: readonly number[];
  readonly classGates: readonly number[];
  readonly priors: readonly number[];
  /** Per tensor. */
  readonly slots: readonly number[];
  readonly capacity: number;
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
  readonly boxes: number;
  readonly order: number;
  readonly spare: number;
  /** Scratch of the three phases: [scratch, scratchEnd) and the spare column may differ between engines. */
  readonly scratch: number;
  readonly chains: number;
  readonly kept: number;
  readonly scratchEnd: number;
  readonly detections: readonly DetectionColumns[];
  /** All of it. */
  readonly bytes: number;
}

export const WORD = 4;
const COUNT_BYTES = 3 * 2048 * WORD;

/**
 * Kept blocks that nms can need: a block is opened only when the newest one of its label is full, so at most
 * one per label is not full.
 */
export function keptBlocks(maxDetections: number, labels: number): number {
  return Math.min(maxDetections, Math.ceil(maxDetections / 4) + Math.min(maxDetections, labels));
}

export function layoutOf(plan: Plan): Layout {
  let at = 64;
  const take = (bytes: number): number => {
    const here = at;
    at = (at + bytes + 15) & ~15;
    return here;
  };
  const n = plan.heads.length;
  const plans = Array.from({ length: plan.batch }, () => take(PLAN_WORDS * WORD));
  const gatherPlan = plan.gather === null ? 0 : take(PLAN_WORDS * WORD);
  const heads = plans.map(() => take(n * HEAD_WORDS * WORD));
  const gatherHeads = plan.gather === null ? 0 : take(n * HEAD_WORDS * WORD);
  const classLists = plan.heads.map((h) =>
    plan.keep === null ? 0 : take((h.label !== null ? plan.keep.length : h.classes) * WORD),
  );
  const classGates = plan.heads.map((h) => take((h.label !== null ? plan.classes : h.classes) * WORD));
  // heads that share a table (the images of a batch, or one tensor in parts) hold it once
  const tables = new Map<Float32Array, number>();
  const priors = plan.heads.map((h) => {
    if (h.priors === null) return 0;
    let here = tables.get(h.priors);
    if (here === undefined) tables.set(h.priors, (here = take(h.priors.byteLength)));
    return here;
  });
  const slots = plan.tensors.map((t) => take(volume(t.dims) * ELEMENTS[t.type].bytes + 16));

  const { capacity } = plan;
  const scores = take(capacity * WORD);
  const labels = take(capacity * WORD);
  const sources = take(capacity * WORD);
  const boxes = take(capacity * 4 * WORD);
  const order = take(capacity * WORD);
  const spare = take(capacity * WORD);
  const gatherIndex = plan.gather === null ? 0 : take(plan.heads.reduce((c, h) => c + h.cells, 0) * WORD);

  // a label column may hold any label
  const kinds =
    plan.rules.nms === "all" ? 1 : plan.heads.some((h) => h.label !== null) ? Infinity : plan.classes + 1;
  const keptBytes = keptBlocks(plan.maxDetections, kinds) * KEPT_BYTES;
  const scratch = take(Math.max(COUNT_BYTES, SCAN_BYTES, CHAINS * WORD + keptBytes));
  const scratchEnd = at;
  const detections = plans.map(() => ({
    boxes: take(plan.maxDetections * 4 * WORD),
    scores: take(plan.maxDetections * WORD),
    labels: take(plan.maxDetections * WORD),
    sources: take(plan.maxDetections * WORD),
  }));
  return {
    plans,
    heads,
    gatherPlan,
    gatherHeads,
    gatherIndex,
    classLists,
    classGates,
    priors,
    slots,
    capacity,
    scores,
    labels,
    sources,
    boxes,
    order,
    spare,
    scratch,
    chains: scratch,
    kept: scratch + CHAINS * WORD,
    scratchEnd,
    detections,
    bytes: at,
  };
}
