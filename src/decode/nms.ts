/** `nms`: only suppression, for boxes that other code has decoded. */
import * as A from "../core/abi.ts";
import { writeCorners } from "../core/corners.ts";
import { withoutSpareRows } from "../core/counted-rows.ts";
import type { SuppressBoxFormat } from "../core/suppression.ts";
import type { EngineName } from "../core/engine-name.ts";
import { checkEngine, chooseEngine, makeEngine, provideTs } from "../engine/choose.ts";
import { tsEngine } from "../engine/ts/index.ts";
import type { Engine } from "../engine/engine.ts";
import { refuseValue } from "../core/errors.ts";
import { IDENTITY, writeColumns } from "../memory/write.ts";
import { type Columns, columnsOf, wordsFrom } from "../memory/layout.ts";
import { ANY, PIXEL_OFFSET, type Rule, UNIT, checkOptions } from "../core/options.ts";
import {
  BOX_FORMAT,
  COMMON_RULES,
  IOU_GATE,
  checkCorners,
  checkList,
  checkScoreThreshold,
} from "../core/suppression.ts";
import { show } from "../core/tensor.ts";

/** Options of `nms`. */
export interface NmsOptions {
  /** Greedy suppression, the only method of `nms`. `suppress` has more methods. Default "hard". */
  readonly method?: "hard";
  /** Default 0.45. */
  readonly iouThreshold?: number;
  /** Boxes with this score or a lower one are ignored. Default: none are ignored. */
  readonly scoreThreshold?: number;
  /** Largest count of returned indices. Default: all. */
  readonly maxDetections?: number;
  /** Class id of each box: boxes suppress each other only within a class. Default: one class. */
  readonly classIds?: ArrayLike<number>;
  /** Meaning of a box's four values. Default: corners, "xyxy". */
  readonly boxFormat?: SuppressBoxFormat;
  /** ">": suppress if the IoU is above the threshold (default). ">=": also suppress at equality. */
  readonly iouGate?: ">" | ">=";
  /** Number added to widths and heights to compute areas, in the unit of the boxes. Default 0. */
  readonly pixelOffset?: number;
  readonly engine?: EngineName | "auto";
}

const RULES: { readonly [N in keyof Required<NmsOptions>]: Rule } = {
  ...(COMMON_RULES as { scoreThreshold: Rule; maxDetections: Rule; classIds: Rule }),
  iouThreshold: UNIT,
  boxFormat: BOX_FORMAT,
  iouGate: IOU_GATE,
  pixelOffset: PIXEL_OFFSET,
  method: ['"hard". Other methods: suppress(boxes, scores, { method }).indices', (x) => x === "hard"],
  // `checkEngine` checks this value.
  engine: ANY,
};

const wrong = (name: string, got: unknown, expected: string): never => refuseValue(name, show(got), expected);

/** Throws if an array has lists, strings, null or holes. JavaScript would convert them to numbers or NaN. */
function checkNumbers(name: string, list: ArrayLike<unknown>): void {
  checkList(name, list);
  if (!ArrayBuffer.isView(list))
    for (let i = 0; i < list.length; i++)
      if (typeof list[i] !== "number") wrong(`${name}[${i}]`, list[i], numberFor(list[i]));
}

/** Describes an element that is not a number, for an error. */
const numberFor = (got: unknown): string =>
  typeof got === "object" && got !== null ? "a number: all values stand in one flat list" : "a number";

interface Workspace {
  readonly engine: Engine;
  readonly max: number;
  readonly at: Columns;
  /** True while the column of sources holds 0, 1, 2, ... */
  isCounting: boolean;
}

/** The workspace of all calls. It grows with the largest call and is kept. */
let workspace: Workspace | null = null;

const PLAN = A.FIRST_ADDRESS;

/**
 * Suppresses greedily: from the best score down, keeps a box unless its IoU with a kept box is above `iouThreshold`.
 * IoU is intersection / union in f32, and 0 if the union is empty. The decoder's kernel does the work. `suppress` has
 * further methods, which lower scores or merge boxes, and computes in doubles.
 * @param boxes four values a box, in any unit, rounded to f32. Corners in either order make the same box. If most boxes
 * have x2 < x1 or y2 < y1, all are refused, since they probably hold sizes
 * @param scores one for each box; boxes that are not finite or have a NaN score are ignored
 * @returns indices of the kept boxes in order of score, ties by index
 * @throws RangeError for wrong lengths, for elements that are not numbers, and for unknown options or values; Error for
 * an engine that cannot run here
 * @example
 * import { nms } from "boxwright";
 *
 * const boxes = [0, 0, 10, 10, 1, 1, 10, 10, 20, 20, 30, 30]; // the second overlaps the first
 * console.log([...nms(boxes, [0.8, 0.9, 0.7])]); // [1,2]
 */
export function nms(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  options: NmsOptions = {},
): Int32Array {
  // Treat null like undefined, because plain JavaScript may pass either.
  options ??= {};
  checkOptions(options, RULES);
  checkNumbers("boxes", boxes);
  checkNumbers("scores", scores);
  let classIds = options.classIds ?? null;
  ({ boxes, scores, classIds } = withoutSpareRows({ boxes, scores, classIds }, 4));
  const n = scores.length;
  const iou = options.iouThreshold ?? 0.45;
  const most = options.maxDetections ?? n;
  const max = Math.min(n, most);
  const format = options.boxFormat ?? "xyxy";
  const threshold = Math.fround(options.scoreThreshold ?? -Infinity);
  const offset = options.pixelOffset ?? 0;
  const iouGate = options.iouGate ?? ">";
  if (boxes.length !== n * 4)
    refuseValue("boxes", `${boxes.length} numbers`, `${n * 4}, four for each of ${n} scores`);
  if (classIds !== null && classIds.length !== n)
    refuseValue("classIds", `${classIds.length}`, `${n}, one for each score`);
  if (classIds !== null && !(classIds instanceof Int32Array))
    for (let i = 0; i < n; i++)
      if ((classIds[i] | 0) !== classIds[i])
        wrong(`classIds[${i}]`, classIds[i], "a whole number of 32 bits");
  checkScoreThreshold(options.scoreThreshold ?? -Infinity, scores);
  const wanted = options.engine ?? "auto";
  checkEngine(wanted);
  if (n === 0 || max === 0) return new Int32Array(0);

  provideTs(tsEngine);
  const name = chooseEngine(wanted);
  workspace = room(name, n, max);
  const { engine } = workspace;
  const { f32, i32 } = engine.memory;
  const p = PLAN >> 2;
  i32[p + A.P_MAX_DETECTIONS] = max;
  f32[p + A.P_IOU] = iou;
  i32[p + A.P_FLAGS] =
    (classIds === null ? A.FLAG_NMS_ALL : A.FLAG_NMS_CLASS) | (iouGate === ">=" ? A.FLAG_SUPPRESS_EQUAL : 0);
  f32[p + A.P_OFFSET_X] = f32[p + A.P_OFFSET_Y] = offset;
  if (format === "xyxy" && threshold === -Infinity) {
    // Copy boxes unchanged, since most are finite with corners in order. Afterwards, check only the boxes that
    // suppression compared.
    copyColumns(workspace, boxes, scores, classIds);
    const kept = suppressed(workspace, n);
    if (allWell(workspace, n)) return kept;
  }
  return suppressed(workspace, copyAsCorners(workspace, boxes, scores, classIds, format, threshold));
}

function suppressed({ engine, at }: Workspace, count: number): Int32Array {
  const { i32 } = engine.memory;
  i32[(PLAN >> 2) + A.P_CANDIDATES] = count;
  engine.sort(PLAN);
  const kept = engine.nms(PLAN);
  const first = at.detections[0].sources >> 2;
  return i32.slice(first, first + kept);
}

/** Returns the workspace. Makes a new one if the old one is too small or has another engine. */
function room(name: EngineName, n: number, max: number): Workspace {
  if (workspace?.engine.name === name && workspace.at.capacity >= n && workspace.max >= max) return workspace;
  const words = wordsFrom(PLAN);
  words(A.PLAN_WORDS);
  const at = columnsOf(words, n, max, Infinity);
  const engine = makeEngine(name, at.bytes);
  writeColumns(engine.memory, PLAN, at, 0, 0, 0, 0);
  engine.memory.f32.set(IDENTITY, (PLAN >> 2) + A.P_SCALE_X);
  return { engine, max, at, isCounting: false };
}

function copyColumns(
  w: Workspace,
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  classIds: ArrayLike<number> | null,
): void {
  const { f32, i32 } = w.engine.memory;
  f32.set(boxes, w.at.boxes >> 2);
  f32.set(scores, w.at.scores >> 2);
  // Do not copy class ids for suppression over all classes, which does not read them.
  if (classIds !== null) i32.set(classIds, w.at.classIds >> 2);
  if (w.isCounting) return;
  const from = w.at.sources >> 2;
  for (let i = 0; i < w.at.capacity; i++) i32[from + i] = i;
  w.isCounting = true;
}

/** Copies the finite boxes above the score threshold, converted to corners. Returns their count. */
function copyAsCorners(
  w: Workspace,
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  classIds: ArrayLike<number> | null,
  format: SuppressBoxFormat,
  threshold: number,
): number {
  const { at } = w;
  const { f32, i32 } = w.engine.memory;
  checkCorners(boxes, format);
  w.isCounting = false;
  let count = 0;
  for (let i = 0; i < scores.length; i++) {
    const score = Math.fround(scores[i]);
    if (!(score > threshold || (threshold === -Infinity && score === threshold))) continue;
    const o = (at.boxes >> 2) + count * 4;
    writeCorners(f32, o, boxes, i * 4, format);
    // Drop boxes that are not finite: Infinity - Infinity and NaN - NaN are NaN.
    const sum = f32[o] + f32[o + 1] + f32[o + 2] + f32[o + 3];
    if (sum - sum !== 0) continue;
    f32[(at.scores >> 2) + count] = score;
    i32[(at.classIds >> 2) + count] = classIds === null ? 0 : classIds[i];
    i32[(at.sources >> 2) + count] = i;
    count++;
  }
  return count;
}

/**
 * True if every box that suppression compared is finite, with corners in order. Boxes that were not compared cannot
 * change the result, since a NaN does not disturb the order of the other scores. If suppression compared more than half
 * of the boxes, checks all boxes in memory order, which is faster.
 */
function allWell({ engine, at }: Workspace, n: number): boolean {
  const { f32, i32 } = engine.memory;
  const boxes = at.boxes >> 2;
  const scores = at.scores >> 2;
  const order = at.order >> 2;
  const met = i32[(PLAN >> 2) + A.P_VISITED];
  const all = met * 2 > n;
  const end = all ? n : met;
  let i = 0;
  if (all) while (i < end && isWell(f32, boxes + i * 4, scores + i)) i++;
  else while (i < end && isWell(f32, boxes + i32[order + i] * 4, scores + i32[order + i])) i++;
  return i === end;
}

function isWell(f32: Float32Array, box: number, score: number): boolean {
  const wide = f32[box + 2] - f32[box];
  const high = f32[box + 3] - f32[box + 1];
  return wide >= 0 && high >= 0 && wide + high < Infinity && f32[score] === f32[score];
}
