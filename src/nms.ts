/** Suppression alone, for boxes that something else decoded. */
import * as A from "./abi.ts";
import { type Engine, type EngineName, checkEngine, chooseEngine, makeEngine } from "./engine.ts";
import { COUNT_BYTES, keptBlocks } from "./layout.ts";
import { show } from "./tensor.ts";

/** Options of `nms`. */
export interface NmsOptions {
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** Boxes at or below this score are left out; default: none is. */
  readonly scoreThreshold?: number;
  /** Most indices that come out; default all. */
  readonly maxDetections?: number;
  /** One class per box: boxes suppress each other within a class only. */
  readonly classIds?: ArrayLike<number>;
  /** How the four numbers of a box are meant; default corners. */
  readonly boxFormat?: "xyxy" | "yxyx" | "cxcywh" | "xywh";
  /** Suppress at IoU above the threshold (default), or also when it equals it. */
  readonly suppress?: ">" | ">=";
  /** Added to widths and heights in areas, in the boxes' own unit; default 0. */
  readonly pixelOffset?: number;
  readonly engine?: EngineName | "auto";
}

interface Workspace {
  readonly engine: Engine;
  readonly capacity: number;
  readonly max: number;
  readonly at: Addresses;
  /** Whether the sources column still counts 0, 1, 2, ... */
  counting: boolean;
}

/** One workspace for all calls, as large as the largest so far. */
let workspace: Workspace | null = null;

const PLAN = 64;

/**
 * Greedy non-maximum suppression.
 * @param boxes four numbers a box
 * @param scores one a box; NaN and boxes that are not finite are left out
 * @returns indices of the kept boxes in order of score, ties by index
 * @throws RangeError on lengths that do not fit, with got and expected
 */
export function nms(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  options: NmsOptions = {},
): Int32Array {
  const n = scores.length;
  if (boxes.length !== n * 4)
    throw new RangeError(
      `boxes: got ${boxes.length} numbers, expected ${n * 4}, four for each of ${n} scores`,
    );
  const { classIds } = options;
  if (classIds !== undefined && classIds.length !== n)
    throw new RangeError(`classIds: got ${classIds.length}, expected ${n}, one for each score`);
  const iou = options.iouThreshold ?? 0.45;
  if (!(iou >= 0 && iou <= 1)) throw new RangeError(`iouThreshold: got ${show(iou)}, expected 0..1`);
  const max = Math.min(n, options.maxDetections ?? n);
  if (!Number.isInteger(max) || max < 0)
    throw new RangeError(`maxDetections: got ${show(options.maxDetections)}, expected a whole number`);
  const format = options.boxFormat ?? "xyxy";
  if (!["xyxy", "yxyx", "cxcywh", "xywh"].includes(format))
    throw new RangeError(`boxFormat: got ${show(format)}, expected xyxy, yxyx, cxcywh or xywh`);
  const threshold = options.scoreThreshold ?? -Infinity;
  if (typeof threshold !== "number" || Number.isNaN(threshold))
    throw new RangeError(`scoreThreshold: got ${show(threshold)}, expected a number`);
  if (!Number.isFinite(options.pixelOffset ?? 0))
    throw new RangeError(`pixelOffset: got ${show(options.pixelOffset)}, expected a number`);
  if (![">", ">="].includes(options.suppress ?? ">"))
    throw new RangeError(`suppress: got ${show(options.suppress)}, expected ">" or ">="`);
  const wanted = options.engine ?? "auto";
  checkEngine(wanted);
  if (n === 0 || max === 0) return new Int32Array(0);

  const name = chooseEngine(wanted);
  workspace = room(name, n, max);
  const { engine, at } = workspace;
  const { f32, i32 } = engine.memory;
  const p = PLAN >> 2;
  let count = 0;
  if (format === "xyxy" && threshold === -Infinity && bulk(workspace, boxes, scores)) {
    if (classIds === undefined) i32.fill(0, at.labels >> 2, (at.labels >> 2) + n);
    else i32.set(classIds, at.labels >> 2);
    count = n;
  } else {
    workspace.counting = false;
    for (let i = 0; i < n; i++) {
      const score = scores[i];
      let a = boxes[i * 4];
      let b = boxes[i * 4 + 1];
      let c = boxes[i * 4 + 2];
      let d = boxes[i * 4 + 3];
      if (format === "yxyx") {
        const y = a;
        a = b;
        b = y;
        const y2 = c;
        c = d;
        d = y2;
      } else if (format === "xywh") {
        c += a;
        d += b;
      } else if (format === "cxcywh") {
        a -= c / 2;
        b -= d / 2;
        c += a;
        d += b;
      }
      // NaN and the infinities leave no number when taken from themselves
      if (
        !(score > threshold || (threshold === -Infinity && score === threshold)) ||
        a + b + c + d - (a + b + c + d) !== 0
      )
        continue;
      const o = (at.boxes >> 2) + count * 4;
      // two corners in any order make the same box, as in the ONNX operator
      f32[o] = Math.min(a, c);
      f32[o + 1] = Math.min(b, d);
      f32[o + 2] = Math.max(a, c);
      f32[o + 3] = Math.max(b, d);
      f32[(at.scores >> 2) + count] = score;
      i32[(at.labels >> 2) + count] = classIds === undefined ? 0 : classIds[i];
      i32[(at.sources >> 2) + count] = i;
      count++;
    }
  }
  i32[p + A.P_SCORES] = at.scores;
  i32[p + A.P_LABELS] = at.labels;
  i32[p + A.P_SOURCES] = at.sources;
  i32[p + A.P_BOXES] = at.boxes;
  i32[p + A.P_ORDER] = at.order;
  i32[p + A.P_SPARE] = at.spare;
  i32[p + A.P_COUNTS] = at.counts;
  i32[p + A.P_CHAINS] = at.scratch;
  i32[p + A.P_KEPT] = at.scratch + A.CHAINS * 4;
  i32[p + A.P_DET_BOXES] = at.detBoxes;
  i32[p + A.P_DET_SCORES] = at.detScores;
  i32[p + A.P_DET_LABELS] = at.detLabels;
  i32[p + A.P_DET_SOURCES] = at.detSources;
  i32[p + A.P_MAX_CANDIDATES] = 0x7fffffff;
  i32[p + A.P_MAX_DETECTIONS] = max;
  f32[p + A.P_IOU] = iou;
  i32[p + A.P_FLAGS] =
    (classIds === undefined ? A.FLAG_NMS_ALL : A.FLAG_NMS_CLASS) |
    (options.suppress === ">=" ? A.FLAG_SUPPRESS_EQUAL : 0);
  f32[p + A.P_OFFSET_X] = f32[p + A.P_OFFSET_Y] = options.pixelOffset ?? 0;
  f32[p + A.P_SCALE_X] = f32[p + A.P_SCALE_Y] = 1;
  f32[p + A.P_SHIFT_X] = f32[p + A.P_SHIFT_Y] = 0;
  i32[p + A.P_CANDIDATES] = count;
  engine.sort(PLAN);
  const kept = engine.nms(PLAN);
  return i32.slice(at.detSources >> 2, (at.detSources >> 2) + kept);
}

/** The workspace, made anew where it is too small or of another engine. */
function room(name: EngineName, n: number, max: number): Workspace {
  if (workspace !== null && workspace.engine.name === name && workspace.capacity >= n && workspace.max >= max)
    return workspace;
  const at = addresses(n, max);
  return { engine: makeEngine(name, at.bytes), capacity: n, max, at, counting: false };
}

/**
 * Copies columns whole where nothing has to be turned over or left out, which is how boxes usually come.
 * False: something has to; what was copied does not matter then.
 */
function bulk(w: Workspace, boxes: ArrayLike<number>, scores: ArrayLike<number>): boolean {
  const { f32, i32 } = w.engine.memory;
  const n = scores.length;
  const b = w.at.boxes >> 2;
  const s = w.at.scores >> 2;
  f32.set(boxes, b);
  f32.set(scores, s);
  let odd = 0;
  for (let i = 0, k = b; i < n; i++, k += 4) {
    const wide = f32[k + 2] - f32[k];
    const high = f32[k + 3] - f32[k + 1];
    // false for NaN, for infinite sizes and for corners the other way round; an infinite or NaN score fails too
    if (!(wide >= 0 && high >= 0 && wide + high < Infinity && f32[s + i] === f32[s + i])) odd++;
  }
  if (odd > 0) return false;
  if (!w.counting) {
    const from = w.at.sources >> 2;
    for (let i = 0; i < w.capacity; i++) i32[from + i] = i;
    w.counting = true;
  }
  return true;
}

interface Addresses {
  readonly scores: number;
  readonly labels: number;
  readonly sources: number;
  readonly boxes: number;
  readonly order: number;
  readonly spare: number;
  readonly scratch: number;
  readonly counts: number;
  readonly detBoxes: number;
  readonly detScores: number;
  readonly detLabels: number;
  readonly detSources: number;
  readonly bytes: number;
}

function addresses(n: number, max: number): Addresses {
  let at = PLAN + A.PLAN_WORDS * 4;
  const take = (bytes: number): number => {
    const here = at;
    at = (at + bytes + 15) & ~15;
    return here;
  };
  return {
    scores: take(n * 4),
    labels: take(n * 4),
    sources: take(n * 4),
    boxes: take(n * 16),
    order: take(n * 4),
    spare: take(n * 4),
    scratch: take(A.CHAINS * 4 + keptBlocks(max, Infinity) * A.KEPT_BYTES),
    counts: take(COUNT_BYTES),
    detBoxes: take(max * 16),
    detScores: take(max * 4),
    detLabels: take(max * 4),
    detSources: take(max * 4),
    get bytes() {
      return at;
    },
  };
}
