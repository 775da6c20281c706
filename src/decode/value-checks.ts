/**
 * Checks of tensor values that show that the config describes another network: wrong scores give boxes that look like
 * boxes. diagnostics.ts says when each check runs.
 */
import { floatBits } from "../core/number.ts";
import { value } from "../engine/ts/value.ts";
import { TensorError, refuseFor } from "../core/errors.ts";
import { type MemoryImage, imageStart } from "../memory/write.ts";
import { slackOf } from "../memory/thresholds.ts";
import type { Plan } from "../plan/plan.ts";
import { READINGS } from "../core/readings.ts";
import { scoresReason } from "../heads/print.ts";
import type { Fn, Head } from "../heads/head.ts";
import { ELEMENTS, shape, volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";

/** Returns the error for a probability outside 0..1, which names the option that would explain the probability. */
export function rangeErrorOf(plan: Plan, about: string, got: number | null): TensorError {
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
 * True if every value of a column is good, over `channels` channels and all images. An f32 in 0..`most` is good without
 * a call of `good`. Their bit patterns are one range of integers, so that one comparison finds them.
 * @param most 0 or below: calls `good` for every value
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
        if (top >= 0) i += countWithin(i32, (at + i * step) >> 2, step >> 2, inner - i, top);
        if (i >= inner) break;
        const v = value(m, code, at + i * step, s.scale ?? 1, s.zeroPoint);
        if (!good(v, byCell ? o : i, byCell ? i : o)) return false;
      }
    }
  }
  return true;
}

/** Returns how many of `n` words, `step` words apart, lie in 0..`top` before the first that does not. */
function countWithin(i32: Int32Array, at: number, step: number, n: number, top: number): number {
  let i = 0;
  while (i < n && i32[at] >= 0 && i32[at] <= top) {
    at += step;
    i++;
  }
  return i;
}

/** True if a head is a list that may end before its tensor does. */
export const isList = ({ marker, count }: Head): boolean => marker !== null || count !== null;

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
      // The softmax of a single class is 1. Such a head has the function "none", and nothing reads its logits.
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
          throw rangeErrorOf(plan, `${shape(s)}, cell ${i}, class ${c}`, v);
        return true;
      });
    };
    check(h.score, h.scoreFn, h.classId || h.rule === "objectness" ? 1 : h.classes);
    check(h.objectness, h.objectnessFn, 1);
  }
  return lost;
}

/**
 * True if some element of a tensor may be NaN or infinite. Sums f32 elements, without a call for each: one that is NaN
 * or infinite makes the sum so.
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
export function valueIn(
  { memory, plan, layout }: MemoryImage,
  image: number,
  f: Column,
  cell: number,
): number {
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

/** True if all values that should be logits lie in 0..1, and some above 0. Logits of trained networks leave 0..1. */
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
 * Returns a note if the count of a finished list is negative, NaN or above its rows; null if it is not.
 * @throws TensorError for a count that is no whole number: another output was taken for it
 */
export function noteOfCount(of: MemoryImage, image: number): string | null {
  // Lists have one head.
  const [{ count, cells }] = of.plan.heads;
  if (!count) return null;
  // A count has no scale: the plan refuses one.
  const n = valueIn(of, image, count, 0);
  const where = shape(of.plan.tensors[count.tensor]);
  if (Number.isFinite(n) && !Number.isInteger(n))
    refuseFor(
      [{ option: "roles" }],
      where,
      `a count of ${Number(n.toPrecision(6))} rows`,
      'a whole number: roles: { count: "name" } names the output that counts the rows',
    );
  return n >= 0 && n <= cells
    ? null
    : `${where}: the count is ${n} of ${cells} rows, and all rows are read: is it the count of this frame?`;
}

/**
 * Checks the scores of the rows of a list that ends before its tensor does.
 * @returns true if there were rows: the scores of an empty list say nothing
 * @throws TensorError for a score outside 0..1
 */
export function checkListScores(of: MemoryImage, image: number): boolean {
  const [head] = of.plan.heads;
  const rows = head.count ? valueIn(of, image, head.count, 0) : head.cells;
  const spec = of.plan.tensors[head.score.tensor];
  const slack = slackOf(spec);
  let cell = 0;
  for (; cell < Math.min(rows, head.cells); cell++) {
    if (head.marker && valueIn(of, image, head.marker, cell) < 0) break;
    const x = valueIn(of, image, head.score, cell);
    if (Number.isFinite(x) && (x > 1 + slack || x < -slack))
      throw rangeErrorOf(of.plan, `${shape(spec)}, row ${cell}`, x);
  }
  return cell > 0;
}
