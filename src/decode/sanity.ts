/**
 * Checks of values that show that the config describes another network. Wrong scores or a wrong unit give boxes
 * that look like boxes. diagnostics.ts says when each check runs.
 */
import * as A from "../core/abi.ts";
import { floatBits } from "../core/number.ts";
import { value } from "../engine/ts/value.ts";
import { TensorError, refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { type MemoryImage, imageStart, slackOf } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";
import { READINGS } from "../core/readings.ts";
import { cellsOf } from "../heads/grids.ts";
import { scoresReason } from "../heads/print.ts";
import type { Fn, Head } from "../heads/head.ts";
import { ELEMENTS, isFloat, shape, volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";

/** Makes the error for a probability outside 0..1. It names the option that would explain it. */
export function outOfRange(plan: Plan, about: string, got: number | null): TensorError {
  const { finished, competing } = READINGS[plan.reading];
  const mayBeLogits = !finished;
  const value = competing ? "softmax-logits" : "logits";
  const hint = mayBeLogits ? `if the tensor holds logits, say scores: "${value}"; ` : "";
  return new TensorError(
    `${about}: got ${got === null ? "a score outside 0..1" : `score ${Number(got.toPrecision(6))}`}, ` +
      `expected probabilities in 0..1 (scores "probabilities", ${scoresReason(plan.scoresWhy)}); ` +
      `${hint}a transposed tensor, or a wrong scale, gives such numbers too`,
    { options: mayBeLogits ? [{ option: "scores", value }] : [] },
  );
}

/**
 * True if every value of a column is good, over `channels` channels and all images. An f32 in 0..`most` is taken as
 * good without a call: such values are one range of integers by their bits, so one comparison tells.
 */
export function everyValue(
  { memory: m, plan, layout }: MemoryImage,
  { cells }: Head,
  f: Column,
  channels: number,
  most: number,
  good: (value: number, cell: number, channel: number) => boolean,
): boolean {
  const s = plan.tensors[f.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  const { i32 } = m;
  const top = s.type === "f32" && most > 0 ? floatBits(most) : -1;
  // Walk in the order of memory: along the smaller of the two steps.
  const byCell = f.cell > f.channel;
  const outer = byCell ? cells : channels;
  const inner = byCell ? channels : cells;
  const step = (byCell ? f.channel : f.cell) * bytes;
  for (let image = 0; image < plan.batch; image++) {
    const first = imageStart(plan, f, image) + f.offset;
    for (let o = 0; o < outer; o++) {
      const at = layout.slots[f.tensor] + (first + o * (byCell ? f.cell : f.channel)) * bytes;
      for (let i = 0; ; i++) {
        if (top >= 0) i += within(i32, (at + i * step) >> 2, step >> 2, inner - i, top);
        if (i >= inner) break;
        const v = value(m, code, at + i * step, s.scale ?? 1, s.zeroPoint);
        if (!good(v, byCell ? o : i, byCell ? i : o)) return false;
      }
    }
  }
  return true;
}

/**
 * Returns how many of `n` words, `step` words apart, lie in 0..`top` before the first that does not. Plain numbers
 * only: fast.
 */
function within(i32: Int32Array, at: number, step: number, n: number, top: number): number {
  let i = 0;
  while (i < n && i32[at] >= 0 && i32[at] <= top) {
    at += step;
    i++;
  }
  return i;
}

/** True if a head is a list that may end before its tensor does. */
const isList = ({ marker, count }: Head): boolean => marker !== null || count !== null;

/**
 * Checks every score and objectness of a plan. The kernel drops infinite ones later.
 * @returns the count of NaN. A network whose f16 values overflow gives NaN, which pass no threshold: without this count
 * the frame would look like an empty scene
 * @throws TensorError for a probability outside 0..1, if the network applied the activation
 */
export function checkScores(image: MemoryImage): number {
  const { plan } = image;
  let lost = 0;
  for (const h of plan.heads) {
    // Rows after the end of a list are undefined.
    if (isList(h)) {
      lost += countLostRows(image, h);
      continue;
    }
    const check = (f: Column | null, fn: Fn, channels: number): void => {
      if (!f) return;
      const s = plan.tensors[f.tensor];
      const slack = slackOf(s);
      // A network of logits without class channels has a score that nothing activates: it is not used.
      if (plan.scores === "logits" || fn !== "none") {
        if (!mayHoldNaN(image, f.tensor)) return;
        everyValue(image, h, f, channels, 0, (v) => {
          // -Infinity is a masked logit.
          if (v !== v || v === Infinity) lost++;
          return true;
        });
        return;
      }
      everyValue(image, h, f, channels, 1 + slack, (v, i, c) => {
        // The kernel counts infinite scores that pass.
        if (v !== v || v === -Infinity) lost++;
        if ((v > 1 + slack || v < -slack) && Number.isFinite(v))
          throw outOfRange(plan, `${shape(s)}, cell ${i}, class ${c}`, v);
        return true;
      });
    };
    check(h.score, h.scoreFn, h.classId || h.rule === "objectness" ? 1 : h.classes);
    check(h.objectness, h.objectnessFn, 1);
  }
  return lost;
}

/**
 * True if some element of a tensor may be NaN or infinite. Sums f32 elements, without a call for each: such an element
 * makes the sum NaN or infinite.
 */
function mayHoldNaN({ memory: { f32 }, plan, layout }: MemoryImage, tensor: number): boolean {
  const { type, dims } = plan.tensors[tensor];
  if (type !== "f32") return type === "f16";
  const first = layout.slots[tensor] >> 2;
  const end = first + volume(dims);
  let sum = 0;
  for (let i = first; i < end; i++) sum += f32[i];
  return !Number.isFinite(sum);
}

/** Returns the value of a column in a cell. */
function valueIn({ memory, plan, layout }: MemoryImage, image: number, f: Column, cell: number): number {
  const s = plan.tensors[f.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  const at = imageStart(plan, f, image) + f.offset + cell * f.cell;
  return value(memory, code, layout.slots[f.tensor] + at * bytes, s.scale ?? 1, s.zeroPoint);
}

/** Returns how many rows of a list have a score that is NaN, over all images. */
function countLostRows(image: MemoryImage, { cells, count, marker, score }: Head): number {
  let lost = 0;
  for (let i = 0; i < image.plan.batch; i++) {
    const rows = count ? valueIn(image, i, count, 0) : cells;
    for (let cell = 0; cell < Math.min(rows, cells); cell++) {
      if (marker && valueIn(image, i, marker, cell) < 0) break;
      if (Number.isNaN(valueIn(image, i, score, cell))) lost++;
    }
  }
  return lost;
}

/**
 * Samples one cell of each head, a different one in each frame, and returns true if its score or objectness is NaN.
 * Called only for a frame without candidates: a network that overflows gives NaN almost everywhere, which otherwise
 * looks like an empty scene.
 */
export function meetsNaN(of: MemoryImage, image: number, frameIndex: number): boolean {
  // A plain loop: even an empty frame makes no garbage.
  for (const h of of.plan.heads)
    if (
      !isList(h) &&
      (isNaNIn(of, image, h.score, frameIndex % h.cells) ||
        isNaNIn(of, image, h.objectness, frameIndex % h.cells))
    )
      return true;
  return false;
}

const isNaNIn = (of: MemoryImage, image: number, f: Column | null, cell: number): boolean =>
  f !== null && Number.isNaN(valueIn(of, image, f, cell));

/** True if all values that should be logits lie in 0..1, and some above 0. Possible, but worth a note. */
export function looksActivated(image: MemoryImage): boolean {
  const { plan } = image;
  if (plan.scores !== "logits" || plan.heads.some((h) => h.scoreFn === "none")) return false;
  let above = false;
  const inside = (v: number): boolean => {
    above ||= v > 0;
    return !(v < 0 || v > 1);
  };
  return plan.heads.every((h) => everyValue(image, h, h.score, h.classes, 0, inside)) && above;
}

/**
 * Throws if channels that are taken for distributions look like decoded boxes and probabilities. [1,84,8400] is 4 + 80
 * classes, and also 4 x 16 bins with 20 classes. Some logit of a trained network leaves 0..1, and none comes near 100.
 */
export function checkDistributions(image: MemoryImage): void {
  const { plan } = image;
  for (const h of plan.heads) {
    const { bins, box, score, classes } = h;
    if (bins === 0 || score.tensor !== box.tensor) continue;
    const inside = (v: number): boolean => v >= 0 && v <= 1;
    const below = (v: number): boolean => v < 100;
    const others = classes + 4 * bins - 4;
    const rest = { ...box, offset: box.offset + 4 * box.channel };
    if (!everyValue(image, h, box, 4, 99, below) && everyValue(image, h, rest, 4 * bins - 4, 1, inside)) {
      const whole = everyValue(image, h, score, classes, 1, inside);
      refuseFor(
        whole ? [{ option: "classes", value: String(others) }] : [],
        h.about,
        whole
          ? "channels that all lie in 0..1 but for the first four"
          : `box channels of which the first four are pixels and the other ${4 * bins - 4} lie in 0..1`,
        `distributions of ${bins} bins; decoded boxes and the probabilities of ${
          whole
            ? `${others} classes look like that: say classes: ${others}`
            : "classes look like that, with masks or keypoints after them: say task"
        }`,
      );
    }
  }
}

/**
 * Returns a note if a class id has no label, or is beyond the stated count of classes.
 * @param spare 1 if class ids may count the background, so that one more is right. It is ignored if there are labels,
 * and if class 0 is among the class ids
 */
export function checkLabels(
  classIds: Int32Array,
  labels: readonly string[] | null,
  classes: number | null,
  spare: 0 | 1,
): string | null {
  const n = labels?.length ?? classes ?? Infinity;
  // A count with the background has one id more, and its id 0 is never found.
  const end = labels || classIds.includes(0) ? n : n + spare;
  const odd = classIds.find((c) => c < 0 || c >= end);
  if (odd !== undefined && odd < 0)
    return `class ${odd} was found, and class ids count from 0: is this the column of class ids?`;
  return odd === undefined
    ? null
    : `class ${odd} was found, and there are ${n} ${labels ? "labels" : "classes"}: are they those of this network?`;
}

/** Fewer candidates than this say nothing of the others. */
const FEW = 4;
/** Boxes that all lie within this part of the image, from its left upper corner on, are none of a picture. */
const CORNER = 0.03;

/**
 * Checks the first candidates for boxes that the config takes for something else:
 * - offsets from priors taken for corners: many would have x_max < x_min;
 * - 0..1 taken for pixels: all boxes would lie within two pixels of the corner;
 * - pixels taken for 0..1: boxes would be many images wide;
 * - rows that are not decoded yet: all boxes would lie in the corner;
 * - data in another order than the dims say: boxes would have no area.
 * @returns a note for what is only suspicious, else null
 * @throws TensorError for what cannot be right
 */
export function checkBoxes({ memory: { i32, f32 }, plan }: MemoryImage, at: number): string | null {
  const n = i32[(at >> 2) + A.P_CANDIDATES];
  const { about, kind, unit } = plan.heads[0];
  const { inputSize } = plan;
  const boxes = i32[(at >> 2) + A.P_BOXES] >> 2;
  // The coordinates furthest from the corner.
  let across = 0;
  let down = 0;
  let swapped = 0;
  // Boxes without width or height.
  let flat = 0;
  // The centres furthest right and down.
  const middle = [0, 0];
  // Read element by element: most processes check boxes once, in code that is not compiled yet.
  for (let i = boxes; i < boxes + n * 4; i += 4) {
    const a = f32[i];
    const b = f32[i + 1];
    const c = f32[i + 2];
    const d = f32[i + 3];
    across = Math.max(across, Math.abs(a), Math.abs(c));
    down = Math.max(down, Math.abs(b), Math.abs(d));
    if (c < a || d < b) swapped++;
    else if (c === a || d === b) flat++;
    middle[0] = Math.max(middle[0], (a + c) / 2);
    middle[1] = Math.max(middle[1], (b + d) / 2);
  }
  if (TRAITS[plan.family].head === "prior" && kind === "corners" && swapped * 4 > n)
    refuseFor(
      [{ option: "variances" }],
      about,
      `${swapped} of ${n} boxes with x_max < x_min or y_max < y_min`,
      "corners; if these are offsets from prior boxes, say variances (and priors, where the family has none of its own)",
    );
  if (n === 0) return null;
  const isDecoded = ["centre", "corners", "topleft"].includes(kind);
  // A distance below 0 may turn a box of a trained network around, now and then.
  const turned =
    swapped * (isDecoded ? 4 : 2) > n
      ? `${swapped} of the first ${n} candidates have x_max < x_min or y_max < y_min: are the boxes as ` +
        "boxFormat says, or as it is by default?"
      : null;
  if (!isDecoded) return turned;
  const note =
    turned !== null
      ? turned
      : flat * 2 > n && n >= FEW
        ? `${flat} of the first ${n} candidates have no width or no height: are dims and order those of the data (NCHW or NHWC)?`
        : null;
  const most = Math.max(across, down);
  if (unit[0] === 1 && most > 16)
    refuseFor(
      [{ option: "coordinates", value: "pixels" }],
      about,
      `box coordinates up to ${Number(most.toPrecision(4))}`,
      '0..1; if they are pixels, say coordinates: "pixels"',
    );
  if (!inputSize) return note;
  const pixels = Math.max(across * inputSize[0], down * inputSize[1]);
  if (unit[0] !== 1 && pixels <= 2)
    refuseFor(
      [{ option: "coordinates", value: "normalised" }],
      about,
      `boxes within ${Number(pixels.toPrecision(3))} pixels of the corner`,
      `pixels of a ${inputSize.join("x")} input; if they are 0..1, say coordinates: "normalised"`,
    );
  if (plan.inPhoto) return note;
  if (note === null && most < CORNER && n >= FEW)
    return (
      `all of the first ${n} candidates lie within ${Math.ceil(pixels)} pixels of the left upper ` +
      "corner: do these rows still need their cell and stride, as those of YOLOX do?"
    );
  // A box may reach over the edge; its centre hardly does.
  if (note === null && unit[0] !== 1 && Math.max(...middle) > 1.1)
    return (
      `boxes stand around up to ${middle.map((x, i) => Math.round(x * inputSize[i])).join(", ")} in a ` +
      `${inputSize.join("x")} input: is that its width and height?`
    );
  return note;
}

/** Fewer candidates than this may be as many objects. */
const MANY = 40;
/** No class of objects wins this part of all queries or priors. */
const MOST = 0.9;

/**
 * Checks whether the first candidates of feature maps overlap each other. A network of grid heads finds an object in
 * several cells: of recorded ones at most 0.7 of the candidates stay. If the order of the data is not that of the dims,
 * nearly all stay.
 */
export function checkOverlaps({ memory: { i32, f32 }, plan }: MemoryImage, at: number): string | null {
  const p = at >> 2;
  const visited = i32[p + A.P_VISITED];
  const kept = i32[p + A.P_DETECTIONS];
  const { suppress: nms, multiLabel } = plan.rules;
  const isSuppressed = nms !== "none" && !multiLabel && f32[p + A.P_IOU] < 0.7;
  const isOfCells = plan.heads[0].kind === "grid" || plan.heads[0].kind === "distance";
  return isSuppressed && isOfCells && visited >= MANY && kept > visited * 0.9
    ? `${kept} of the first ${visited} candidates overlap no other: are dims and order those of the data (NCHW or NHWC)?`
    : null;
}

/**
 * Checks whether one class wins almost every query or prior of the first candidates, with a score above 0.5: only the
 * background does.
 */
export function checkBackground({ memory: { i32, f32 }, plan }: MemoryImage, at: number): string | null {
  const p = at >> 2;
  const n = i32[p + A.P_CANDIDATES];
  const cells = cellsOf(plan.heads);
  const isOpen = plan.reading === "queries" || READINGS[plan.reading].priors;
  if (!isOpen || cells < MANY) return null;
  const [ids, scores] = [i32[p + A.P_CLASS_IDS] >> 2, f32.subarray(i32[p + A.P_SCORES] >> 2)];
  // The middle one of all class ids is the class that most candidates have, if more than half of them have it.
  const id = i32.slice(ids, ids + n).sort()[n >> 1];
  let wins = 0;
  for (let i = 0; i < n; i++) if (i32[ids + i] === id && scores[i] > 0.5) wins++;
  return wins >= cells * MOST
    ? `class ${id} wins ${wins} of ${cells} ${plan.reading === "queries" ? "queries" : "priors"}: is it ` +
        'the background ("no object")? Then leave it out of classes, and say its place by background'
    : null;
}

/** A float that stands for a class id is off by less than this. */
const ID_SLACK = 0.1;

/**
 * Checks whether the class ids of the first candidates are whole numbers. Those of a quantised column are off by half a
 * step at most.
 */
export function checkClassIds(
  { memory, plan, layout }: MemoryImage,
  at: number,
  image: number,
): string | null {
  const [{ classId }] = plan.heads;
  // Lists have one head.
  if (!classId || plan.heads.length > 1) return null;
  const { i32 } = memory;
  const p = at >> 2;
  const s = plan.tensors[classId.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  const slack = Math.max(ID_SLACK, isFloat(s) ? 0 : (s.scale ?? 1) * 0.51);
  const first = imageStart(plan, classId, image) + classId.offset;
  for (let i = 0; i < i32[p + A.P_CANDIDATES]; i++) {
    const cell = i32[(i32[p + A.P_SOURCES] >> 2) + i];
    const element = layout.slots[classId.tensor] + (first + cell * classId.cell) * bytes;
    const id = value(memory, code, element, s.scale ?? 1, s.zeroPoint);
    if (Math.abs(id - Math.round(id)) > slack)
      return `class id ${Number(id.toPrecision(4))} is no whole number, and is rounded: does the column hold class ids?`;
  }
  return null;
}

/** Returns a note if the count of a finished list is no number of its rows, else null. All rows are then read. */
export function noteOfCount({ memory, plan, layout }: MemoryImage, image: number): string | null {
  // Lists have one head.
  const [{ count, cells }] = plan.heads;
  if (!count) return null;
  const s = plan.tensors[count.tensor];
  const { bytes, code } = ELEMENTS[s.type];
  const at = layout.slots[count.tensor] + (imageStart(plan, count, image) + count.offset) * bytes;
  const n = value(memory, code, at, 1, 0);
  return n >= 0 && n <= cells
    ? null
    : `${shape(s)}: the count is ${n} of ${cells} rows, and all rows are read: is it the count of this frame?`;
}
