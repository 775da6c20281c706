/**
 * Holds the answer of an engine, which computes in f32, against the specification, which computes in doubles.
 *
 * An answer may differ only in what lies within a rounding distance of a decision, see spec/README.md. Such decisions
 * are "in doubt": candidates are sought three times, with thresholds lowered and raised by the distance and as they
 * are. A candidate that is found each time is certain. The answer is then checked by the conditions that make it the
 * result of greedy suppression.
 */
import type { Head } from "../../src/heads/head.ts";
import type { TensorSpec } from "../../src/core/tensor.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { type Box, boxOf } from "../../spec/boxes.ts";
import {
  type Found,
  type Frame,
  type Scanned,
  type Thresholds,
  frameOf,
  scan,
  suppressionOf,
} from "../../spec/decode.ts";
import { ColumnReader, type Tensors } from "../../spec/element.ts";
import { clampDetection, placeInInput, undoResize } from "../../spec/frame.ts";
import { type Suppression, suppresses } from "../../spec/suppress.ts";
import type { Asked } from "./specification.ts";

/** Columns of the detections of one image. */
export interface Image {
  readonly length: number;
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number>;
  readonly sources: ArrayLike<number>;
}

/** What a decoder answered. */
export interface Answer {
  /** One entry per image; `null`: the frame was refused because of a probability above 1. */
  readonly images: readonly Image[] | null;
  /** Counters of the frame, over all images. */
  readonly candidates: number;
  readonly dropped: { readonly capped: number; readonly notFinite: number };
}

/** Rounding distances, relative. */
const STEP = 2 ** -22;
const COARSE_SCORE = 2 ** -14;
const COARSE_BOX = 2 ** -15;
const CORNER = 2 ** -20;
const IOU = 2 ** -20;
/** The smallest f32, twice: below it all numbers are one. */
const TINY = 2 ** -148;
/** Products of numbers outside these bounds may leave the range of f32. */
const HUGE_BOX = 1e15;
const HUGE_CORNER = 1e30;
const SMALL_AREA = 1e-30;

const isF32 = (x: number): boolean => Math.fround(x) === x;

// ---- Rounding distances ------------------------------------------------------------------------------

/** True if f32 holds the real numbers of a tensor exactly, as far as the numbers themselves fit. */
const hasExactScale = ({ scale, zeroPoint }: TensorSpec): boolean =>
  isF32(scale ?? 1) && Number.isInteger(zeroPoint);

/** True if every step from the elements to the score is exact in f32. */
function isExactScore(plan: Plan, { head, objectness, classScore, score }: Found): boolean {
  const h = plan.heads[head];
  const factors = h.objectness ? [h.score, h.objectness] : [h.score];
  return (
    h.scoreFn === "none" &&
    h.objectnessFn === "none" &&
    (h.rule !== "power" || score === 0) &&
    [objectness ?? 0, classScore, score].every(isF32) &&
    factors.every(({ tensor }) => {
      const spec = plan.tensors[tensor];
      // An i32 beyond 2^24 has no f32 of its own.
      return hasExactScale(spec) && (spec.type !== "i32" || classScore / (spec.scale ?? 1) < 2 ** 23);
    })
  );
}

/** Returns the rounding distance of the scores of a head, relative. */
function scoreDistance({ tensors }: Plan, { score, objectness, scoreFn }: Head): number {
  const isQuantised = [score, objectness].some((f) => f && !/^f/.test(tensors[f.tensor].type));
  return isQuantised || scoreFn === "softmax" ? COARSE_SCORE : STEP;
}

/** True if every step from the elements to the corners is exact in f32. */
function isExactBox(plan: Plan, head: Head, read: ColumnReader, cell: number, box: Box): boolean {
  const spec = plan.tensors[head.box.tensor];
  if (!["centre", "corners", "topleft"].includes(head.kind) || !hasExactScale(spec)) return false;
  const channels = head.boxChannels.map((c) => read.real({ ...head.box, offset: head.box.offset + c }, cell));
  const scaled = channels.map((v, i) => v * head.unit[i % 2]);
  const isHalved = head.kind === "centre" ? scaled.map((v) => v / 2) : [];
  return [...head.unit, ...channels, ...scaled, ...isHalved, ...box].every(isF32) && spec.type !== "i32";
}

/** Returns how far a corner may be off. */
function cornerDistance(plan: Plan, head: Head, box: Box): number {
  const largest = Math.max(1, ...box.map(Math.abs));
  const isCoarse =
    head.kind === "prior" ||
    head.bins > 0 ||
    head.whFn !== "none" ||
    !/^f/.test(plan.tensors[head.box.tensor].type);
  const size = Math.max(Math.abs(box[2] - box[0]), Math.abs(box[3] - box[1]));
  return CORNER * largest + (isCoarse ? COARSE_BOX * size : 0);
}

// ---- Candidates with their doubts ----------------------------------------------------------------------

/** A candidate, perhaps, as suppression sees it. */
export interface Entry {
  readonly source: number;
  readonly classId: number;
  readonly score: number;
  readonly box: Box;
  /** True if it may be a candidate, and if it is one for sure. */
  readonly possible: boolean;
  readonly certain: boolean;
  /** It is dropped as not finite: for sure, perhaps, or not at all. */
  readonly lost: "surely" | "perhaps" | "no";
  /** Bounds of the score. */
  readonly low: number;
  readonly high: number;
  /** How far a corner may be off, in 0..1 of the input; 0: it is exact. */
  readonly distance: number;
  /** Position among all entries, by which ties are broken. */
  readonly rank: number;
}

const keyOf = (source: number, classId: number): string => `${source} ${classId}`;

/** Returns thresholds moved by a relative distance, and past the smallest f32. */
function moved(thresholds: Thresholds, by: number): Thresholds {
  const { confidenceThreshold: t } = thresholds;
  const move = (x: number): number => x + x * by + Math.sign(by) * TINY;
  return { ...thresholds, confidenceThreshold: typeof t === "number" ? move(t) : t.map(move) };
}

/**
 * Returns all that may be a candidate, in the order of sources. `runs`: with thresholds lowered, as they are, and
 * raised.
 */
function entriesOf(plan: Plan, read: ColumnReader, runs: readonly Scanned[]): Entry[] {
  const [low, exact, high] = runs.map(
    ({ found }) => new Map(found.map((f) => [keyOf(f.source, f.classId), f])),
  );
  // Infinity x 0 is NaN. No rule says if such a class hides the others of its cell, which have a score of 0.
  const isHidden = (f: Found): boolean => f.objectness === 0 && holdsInfinity(plan, read, f.source);
  const isCertain = (key: string, f: Found): boolean =>
    !isHidden(f) && (isExactScore(plan, f) || [low, exact, high].every((run) => run.has(key)));
  return [...new Map([...high, ...exact, ...low])]
    .filter(([key, f]) => !isExactScore(plan, f) || exact.has(key))
    .sort(([, a], [, b]) => a.source - b.source || a.classId - b.classId)
    .map(([key, f], rank) => entryOf(plan, read, f, isCertain(key, f), rank));
}

function entryOf(plan: Plan, read: ColumnReader, f: Found, isSure: boolean, rank: number): Entry {
  const head = plan.heads[f.head];
  const box = boxOf(head, read, f.cell);
  const ofBox = isExactBox(plan, head, read, f.cell, box) ? 0 : cornerDistance(plan, head, box);
  const by = isExactScore(plan, f) ? 0 : scoreDistance(plan, head) * Math.abs(f.score) + TINY;
  // Between these bounds f32 may overflow on the way to a corner.
  const largest = Math.max(...box.map(Math.abs));
  const mayOverflow = largest > HUGE_CORNER && largest < HUGE_CORNER ** 1.4;
  const isLost = f.fate === "notFinite";
  // Infinite factors are dropped, but the product does not show if the other factor passes.
  const isOdd = !Number.isFinite(f.objectness ?? 0) || !Number.isFinite(f.classScore);
  const isClamped = plan.rules.clamp === "before" && !isLost;
  const emptiness = isClamped ? emptinessOf(box, ofBox) : "no";
  return {
    source: f.source,
    classId: f.classId,
    score: f.score,
    box: f.box,
    possible: (!isLost || mayOverflow) && emptiness !== "surely",
    certain: isSure && !isLost && !mayOverflow && emptiness === "no",
    lost: mayOverflow || (isLost && (!isSure || isOdd)) ? "perhaps" : isLost ? "surely" : "no",
    low: f.score - by,
    high: f.score + by,
    // A corner that a clamp has put on the border is exact.
    distance: isClamped && f.box.every((x) => x === 0 || x === 1) ? 0 : ofBox,
    rank,
  };
}

/** True if the clamp to 0..1 leaves nothing of a box whose corners may be off. */
function emptinessOf([x1, y1, x2, y2]: Box, distance: number): "surely" | "perhaps" | "no" {
  const clamp = (x: number): number => Math.min(1, Math.max(0, x));
  const isEmpty = (by: number): boolean =>
    clamp(x2 + by) <= clamp(x1 - by) || clamp(y2 + by) <= clamp(y1 - by);
  return isEmpty(distance) ? "surely" : isEmpty(-distance) ? "perhaps" : "no";
}

// ---- Order and suppression, with doubts ---------------------------------------------------------------

/** True if `a` comes before `b` whatever the rounding. */
const surelyBefore = (a: Entry, b: Entry): boolean =>
  a.low > b.high || (a.low === a.high && b.low === b.high && a.low === b.low && a.rank < b.rank);

const maybeBefore = (a: Entry, b: Entry): boolean => !surelyBefore(b, a);

/** Returns how many of a sorted list are below a value. */
function countBelow(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Counts entries before an entry, as `surelyBefore` and `maybeBefore` say, without asking for each pair. */
class Ranking {
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  /** Ranks of the entries whose score is exact, by score. */
  readonly #exact = new Map<number, Float64Array>();

  constructor(entries: readonly Entry[]) {
    this.#lows = Float64Array.from(entries, (e) => -e.low).sort();
    this.#highs = Float64Array.from(entries, (e) => e.high).sort();
    const ranks = new Map<number, number[]>();
    for (const { low, high, rank } of entries)
      if (low === high) ranks.set(low, [...(ranks.get(low) ?? []), rank]);
    for (const [score, list] of ranks) this.#exact.set(score, Float64Array.from(list).sort());
  }

  surelyBefore(e: Entry): number {
    const ties = e.low === e.high ? countBelow(this.#exact.get(e.low) ?? new Float64Array(0), e.rank) : 0;
    return countBelow(this.#lows, -e.high) + ties;
  }

  maybeBefore(e: Entry): number {
    const exact = (e.low === e.high && this.#exact.get(e.low)) || new Float64Array(0);
    const surelyAfter = countBelow(this.#highs, e.low) + exact.length - countBelow(exact, e.rank + 1);
    return this.#lows.length - surelyAfter - 1;
  }
}

type Verdict = "surely" | "maybe" | "no";

/** Returns if a kept entry removes another, whatever the rounding, or perhaps. */
type Removes = (kept: Entry, other: Entry) => Verdict;

/** Returns a function that remembers its verdicts: the answers of several engines ask for the same pairs. */
function removesBy(rule: Suppression): Removes {
  const verdicts = new Map<number, Verdict>();
  return (a, b) => {
    if (rule.suppress === "none" || (rule.suppress === "class" && a.classId !== b.classId)) return "no";
    const key = a.rank * 2 ** 26 + b.rank;
    const verdict = verdicts.get(key) ?? verdictOn(a, b, rule);
    verdicts.set(key, verdict);
    return verdict;
  };
}

const above0 = (x: number): number => (x > 0 ? x : 0);

function verdictOn(a: Entry, b: Entry, rule: Suppression): Verdict {
  const [ox, oy] = rule.offset;
  const [ax1, ay1, ax2, ay2] = a.box;
  const [bx1, by1, bx2, by2] = b.box;
  if (Math.max(...[...a.box, ...b.box].map(Math.abs)) > HUGE_BOX) return "maybe";
  // Width and height of what both have in common, and of each.
  const w = Math.min(ax2, bx2) - Math.max(ax1, bx1) + ox;
  const h = Math.min(ay2, by2) - Math.max(ay1, by1) + oy;
  const by = a.distance + b.distance + STEP * Math.max(ox, oy);
  const t = rule.iouThreshold;
  // Boxes this far apart have nothing in common.
  if (t > 0 && (w < -by || h < -by)) return "no";
  const [aw, ah, bw, bh] = [ax2 - ax1 + ox, ay2 - ay1 + oy, bx2 - bx1 + ox, by2 - by1 + oy];
  const shared = above0(w) * above0(h);
  const [areaA, areaB] = [above0(aw) * above0(ah), above0(bw) * above0(bh)];
  const union = areaA + areaB - shared;
  if (a.distance === 0 && b.distance === 0) {
    const steps = [ox, oy, w, h, aw, ah, bw, bh, shared, areaA, areaB, areaA + areaB, union];
    if (steps.every(isF32)) return suppresses(a, b, rule) ? "surely" : "no";
  }
  const areas = (d: number): number =>
    above0(aw + 2 * d * a.distance) * above0(ah + 2 * d * a.distance) +
    above0(bw + 2 * d * b.distance) * above0(bh + 2 * d * b.distance);
  const lowShared = above0(w - by) * above0(h - by);
  const highShared = above0(w + by) * above0(h + by) + SMALL_AREA;
  const lowUnion = areas(-1) - highShared;
  const lowIou = lowShared > SMALL_AREA ? lowShared / (areas(1) - lowShared) : 0;
  const highIou = lowUnion > 0 ? highShared / lowUnion : Infinity;
  const least = t * (1 + IOU);
  if (lowUnion > SMALL_AREA && (rule.iouGate === ">" ? lowIou > least : lowIou >= least)) return "surely";
  return highIou >= t * (1 - IOU) ? "maybe" : "no";
}

// ---- The comparison -----------------------------------------------------------------------------------

/** All answers to a frame that are right. */
export interface Possible extends Asked {
  /** For each image, all that may be a candidate. */
  readonly images: readonly (readonly Entry[])[];
  readonly removes: readonly Removes[];
  /** True if some cell, perhaps or for sure, holds a probability above 1 that refuses the frame. */
  readonly mayRefuse: boolean;
  readonly mustRefuse: boolean;
}

/** Returns what the specification makes of a frame, with all doubts. */
export function possibleAnswers({ plan, thresholds }: Asked, tensors: Tensors): Possible {
  const by = Math.max(0, ...plan.heads.map((h) => scoreDistance(plan, h)));
  const readers = Array.from({ length: plan.batch }, (_, image) => new ColumnReader(plan, tensors, image));
  const runs = readers.map((read) =>
    [-by, 0, by].map((d) => scan(plan, read, d === 0 ? thresholds : moved(thresholds, d))),
  );
  const rule = suppressionOf(plan, thresholds);
  return {
    plan,
    thresholds,
    images: readers.map((read, i) => entriesOf(plan, read, runs[i])),
    removes: readers.map(() => removesBy(rule)),
    mayRefuse:
      runs.some(([low]) => low.refused.length > 0) || readers.some((read) => listsNegative(plan, read)),
    mustRefuse: runs.some(([, , high], i) => high.refused.some((s) => !holdsInfinity(plan, readers[i], s))),
  };
}

/** True if a row of a counted list has a score below 0. The decoder checks all rows of the first list that has any. */
const listsNegative = ({ heads: [head] }: Plan, read: ColumnReader): boolean =>
  head.count !== null &&
  Array.from({ length: Math.min(head.cells, read.real(head.count, 0, 0)) }, (_, row) =>
    read.real(head.score, row, 0),
  ).some((score) => score < 0 && score > -Infinity);

/** True if a class of a cell is infinite, which may hide that another one is out of range. */
function holdsInfinity(plan: Plan, read: ColumnReader, source: number): boolean {
  let first = 0;
  const head = plan.heads.find((h) => source < (first += h.cells)) as Head;
  const cell = source - (first - head.cells);
  return Array.from({ length: head.classes }, (_, c) => read.real(head.score, cell, c)).includes(Infinity);
}

/** Returns what is wrong with an answer, in words; nothing if it is right. */
export function compare(
  possible: Possible,
  frames: Frame | readonly Frame[] | undefined,
  answer: Answer,
): string[] {
  const { plan, thresholds } = possible;
  const { images } = answer;
  if (images === null)
    return possible.mayRefuse ? [] : ["the frame was refused, but no candidate is out of range"];
  if (possible.mustRefuse) return ["a candidate is out of range, but the frame was not refused"];
  const said = possible.images.flatMap((entries, i) =>
    compareImage(possible, entries, frameOf(frames, i), images[i], possible.removes[i]).map((words) =>
      plan.batch > 1 ? `image ${i}: ${words}` : words,
    ),
  );
  return [...said, ...compareCounters(plan, possible.images, thresholds, answer)];
}

function compareImage(
  { plan, thresholds }: Asked,
  entries: readonly Entry[],
  frame: Frame | undefined,
  image: Image,
  removes: Removes,
): string[] {
  const said: string[] = [];
  const byKey = new Map(entries.filter((e) => e.possible).map((e) => [keyOf(e.source, e.classId), e]));
  const kept: Entry[] = [];
  for (let i = 0; i < image.length; i++) {
    const [source, classId, score] = [image.sources[i], image.classIds[i], image.scores[i]];
    const entry = byKey.get(keyOf(source, classId));
    const name = `detection ${i} (source ${source}, class ${classId}, score ${score})`;
    if (entry === undefined) said.push(`${name} is no candidate`);
    else if (kept.includes(entry)) said.push(`${name} stands there twice`);
    else {
      kept.push(entry);
      if (!(score >= Math.fround(entry.low) && score <= Math.fround(entry.high)))
        said.push(`${name} has a score of ${entry.score}`);
      const box = Array.from({ length: 4 }, (_, k) => image.boxes[4 * i + k]);
      said.push(...compareBox(plan, entry, frame, box).map((words) => `${name} ${words}`));
    }
    const before = [image.scores[i - 1], -image.sources[i - 1], -image.classIds[i - 1]];
    const own = [score, -source, -classId];
    const k = own.findIndex((x, j) => x !== before[j]);
    if (i > 0 && !(before[k] > own[k])) said.push(`${name} stands behind one that comes later`);
  }
  const most = Math.min(plan.capacity, plan.rules.maxCandidates || Infinity);
  return said.length > 0 ? said : compareSuppression(entries, kept, thresholds.maxDetections, most, removes);
}

/** Corners are those of the entry, brought to the image. */
function compareBox(plan: Plan, entry: Entry, frame: Frame | undefined, box: readonly number[]): string[] {
  const input = plan.inputSize ?? [1, 1];
  const placed = frame && plan.inputSize ? placeInInput(frame, plan.inputSize) : [0, 0, ...input];
  const truth = clampDetection(undoResize(entry.box, frame, plan.inputSize), plan.rules.clamp);
  const wrong = truth.findIndex((x, k) => {
    const scale = input[k % 2] / placed[2 + (k % 2)];
    const terms =
      Math.max(...entry.box.map(Math.abs)) * scale + Math.abs(placed[k % 2] / placed[2 + (k % 2)]);
    // The letterbox of a flat image may bring a corner beyond f32.
    if (terms > HUGE_CORNER) return false;
    return !(Math.abs(box[k] - x) <= 2 * entry.distance * scale + STEP * terms);
  });
  return wrong < 0
    ? []
    : [`has ${["x_min", "y_min", "x_max", "y_max"][wrong]} ${box[wrong]}, not ${truth[wrong]}`];
}

/**
 * The conditions that make a list of entries the result of greedy suppression. At most `most` entries go into
 * suppression.
 */
function compareSuppression(
  entries: readonly Entry[],
  kept: readonly Entry[],
  maxDetections: number,
  most: number,
  removes: Removes,
): string[] {
  const said: string[] = [];
  const name = ({ source, classId, score }: Entry): string =>
    `the candidate of source ${source}, class ${classId}, score ${score},`;
  const possible = entries.filter((e) => e.possible);
  const certain = entries.filter((e) => e.certain);
  const ofCertain = new Ranking(certain);
  const ofPossible = new Ranking(possible);

  if (kept.length > maxDetections)
    said.push(`there are ${kept.length} detections, more than ${maxDetections}`);
  kept.forEach((e, i) => {
    const remover = kept.slice(0, i).find((k) => removes(k, e) === "surely");
    if (remover) said.push(`${name(e)} was kept, but ${name(remover)} removes it`);
    if (ofCertain.surelyBefore(e) >= most) said.push(`${name(e)} was kept, but is beyond the cap`);
  });
  const isKept = new Set(kept);
  const isFull = kept.length >= maxDetections;
  for (const e of certain) {
    if (isKept.has(e)) continue;
    const hasReason =
      (isFull && (kept.length === 0 || maybeBefore(kept[kept.length - 1], e))) ||
      kept.some((k) => maybeBefore(k, e) && removes(k, e) !== "no") ||
      ofPossible.maybeBefore(e) >= most;
    if (!hasReason) said.push(`${name(e)} is missing, and nothing removes it`);
  }
  return said;
}

/**
 * Returns what is wrong with the indices that suppression alone kept; nothing if they are right. All numbers are f32.
 */
export function compareNms(
  boxes: ArrayLike<number>,
  scores: ArrayLike<number>,
  classIds: ArrayLike<number>,
  rule: Suppression,
  kept: ArrayLike<number>,
): string[] {
  const entries = Array.from(scores, (score, source): Entry => {
    const box = [0, 1, 2, 3].map((i) => boxes[4 * source + i]) as unknown as Box;
    const isBox = Number.isFinite(box[0] + box[1] + box[2] + box[3]) && !Number.isNaN(score);
    const numbers = { low: score, high: score, distance: 0, rank: source };
    return {
      source,
      classId: classIds[source],
      score,
      box,
      possible: isBox,
      certain: isBox,
      lost: "no",
      ...numbers,
    };
  });
  const found = Array.from(kept, (index) => entries[index]);
  const wrong = found.findIndex((e, i) => !e.possible || (i > 0 && !surelyBefore(found[i - 1], e)));
  if (wrong >= 0)
    return [`index ${kept[wrong]} at ${wrong} is no box, or stands behind one that comes later`];
  return compareSuppression(entries, found, rule.maxDetections, Infinity, removesBy(rule));
}

/** Counters lie between those of the certain entries and those of all. */
function compareCounters(
  plan: Plan,
  images: readonly (readonly Entry[])[],
  { maxDetections }: Thresholds,
  { images: answers, candidates, dropped }: Answer,
): string[] {
  const said: string[] = [];
  const all = images.flat();
  const count = (test: (e: Entry) => boolean): number => all.filter(test).length;
  const within = (name: string, got: number, low: number, high: number): void => {
    if (!(got >= low && got <= high))
      said.push(`${name} is ${got}, not ${low === high ? low : `${low} to ${high}`}`);
  };
  const room = Math.min(plan.capacity, plan.rules.maxCandidates || Infinity);
  within(
    "candidates",
    candidates,
    Math.min(
      plan.capacity,
      count((e) => e.certain),
    ),
    count((e) => e.possible),
  );
  within(
    "notFinite",
    dropped.notFinite,
    count((e) => e.lost === "surely"),
    count((e) => e.lost !== "no"),
  );
  // What the cap on detections drops depends on where the last one stands. One image has counters of its own.
  if (images.length > 1) return said;
  const [{ length }] = answers as readonly Image[];
  const beyond = Math.max(0, candidates - room);
  if (length < maxDetections) within("capped", dropped.capped, beyond, beyond);
  else within("capped", dropped.capped, beyond, candidates - length);
  return said;
}
