/** Checks scores that may come from another network than the config's. Wrong scores still give plausible boxes. */
import type { Moment } from "./check.ts";
import { refuseFor } from "../core/errors.ts";
import { shape } from "../core/tensor.ts";
import { areProbabilities, isList, scoreColumns } from "../decode/range.ts";
import { LARGEST, type PlanInMemory, everyValue, valueIn } from "../decode/values.ts";
import type { Column } from "../heads/channels.ts";
import type { Head } from "../heads/head.ts";

/** Range that probabilities must have. */
const UNIT = [0, 1] as const;

/** Returns a note if logits or scores are NaN or infinite, as after an f16 overflow. Such a frame looks empty. */
export function noteOfLost({ work, lost: before }: Moment<PlanInMemory>): string | null {
  let lost = before;
  const { plan } = work;
  for (const h of plan.heads)
    if (isList(h)) lost += countLostRows(work, h);
    else
      for (const { f, fn, channels } of scoreColumns(h))
        if (!areProbabilities(plan, fn)) {
          // Allow -Infinity: it is a masked logit.
          everyValue(work, h.cells, f, channels, [-Infinity, LARGEST], () => {
            lost++;
            return true;
          });
        }
  return lost > 0 ? `${lost} scores of the first frame are NaN or infinite` : null;
}

/** Returns the count of rows with a NaN score in a list, for all images. */
function countLostRows(work: PlanInMemory, { cells, count, marker, score }: Head): number {
  let lost = 0;
  for (let i = 0; i < work.plan.batch; i++) {
    const rows = count ? valueIn(work, i, count, 0) : cells;
    for (let cell = 0; cell < Math.min(rows, cells); cell++) {
      if (marker && valueIn(work, i, marker, cell) < 0) break;
      if (Number.isNaN(valueIn(work, i, score, cell))) lost++;
    }
  }
  return lost;
}

/**
 * Returns a note if the sampled cell of a head is NaN: after an overflow, frames look empty. Each frame samples
 * another.
 */
export function noteOfNaN({ work, image, frames: frame }: Moment<PlanInMemory>): string | null {
  // Use a plain loop: a callback would make garbage in every frame.
  for (const h of work.plan.heads) {
    const cell = (frame - 1) % h.cells;
    if (!isList(h) && (isNaNIn(work, image, h.score, cell) || isNaNIn(work, image, h.objectness, cell)))
      return `scores of frame ${frame} are NaN, which pass no threshold`;
  }
  return null;
}

const isNaNIn = (work: PlanInMemory, image: number, f: Column | null, cell: number): boolean =>
  f !== null && Number.isNaN(valueIn(work, image, f, cell));

/** Returns a note if values that should be logits all lie in 0..1, and some are above 0. Real logits leave 0..1. */
export function noteOfActivated({ work }: Moment<PlanInMemory>): string | null {
  const { scores, heads } = work.plan;
  if (scores !== "logits" || heads.some((h) => h.scoreFn === "none")) return null;
  const areAll = (range: readonly [number, number]): boolean =>
    heads.every((h) => everyValue(work, h.cells, h.score, h.classes, range));
  return areAll(UNIT) && !areAll([0, 0])
    ? 'every score already lies in 0..1: if the network applies the sigmoid itself, say scores: "probabilities"'
    : null;
}

/** Decoded boxes in pixels exceed this value. Logits of trained networks never come near it. */
const FAR = 100;

/** Throws if box channels look like decoded boxes and classes: some of the first four above 100, others in 0..1. */
export function checkDistributions({ work }: Moment<PlanInMemory>): null {
  for (const h of work.plan.heads) {
    const { bins, box, score, classes, cells } = h;
    if (bins === 0 || score.tensor !== box.tensor) continue;
    const others = classes + 4 * bins - 4;
    const rest = { ...box, offset: box.offset + 4 * box.channel };
    if (everyValue(work, cells, box, 4, [-Infinity, FAR])) continue;
    if (!everyValue(work, cells, rest, 4 * bins - 4, UNIT)) continue;
    const whole = everyValue(work, cells, score, classes, UNIT);
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
  return null;
}

/** Returns a note if the count of a finished list is negative, NaN or too large. Throws for a fraction. */
export function noteOfCount({ work, image }: Moment<PlanInMemory>): string | null {
  // Lists have one head.
  const { count, cells } = work.plan.heads[0];
  if (!count) return null;
  // Read the raw count: the plan refuses a count that has a scale.
  const n = valueIn(work, image, count, 0);
  const where = shape(work.plan.tensors[count.tensor]);
  if (Number.isFinite(n) && !Number.isInteger(n))
    refuseFor(
      ["roles"],
      where,
      `a count of ${Number(n.toPrecision(6))} rows`,
      'a whole number: roles: { count: "name" } names the output that counts the rows',
    );
  return n >= 0 && n <= cells
    ? null
    : `${where}: the count is ${n} of ${cells} rows, and all rows are read: is it the count of this frame?`;
}
