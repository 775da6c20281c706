/** Refuses probabilities outside 0..1. Every decoder does this, even without checks. */
import { TensorError } from "../core/errors.ts";
import { READINGS } from "../core/readings.ts";
import { isFloat, shape, type TensorSpec } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import type { Fn, Head } from "../heads/head.ts";
import { scoresReason } from "../heads/print.ts";
import { slackOf } from "../memory/thresholds.ts";
import type { Plan } from "../plan/plan.ts";
import { type PlanInMemory, everyValue, valueIn } from "./values.ts";

/** Returns the error about a probability outside 0..1 in the tensor `spec`, with options that may correct it. */
export function rangeErrorOf(plan: Plan, spec: TensorSpec, about: string, got: number | null): TensorError {
  const { finished, competing } = READINGS[plan.reading];
  const mayBeLogits = !finished;
  const value = competing ? "softmax-logits" : "logits";
  const hint = mayBeLogits ? `if the tensor holds logits, say scores: "${value}"; ` : "";
  const zero = adviceOnZeroPoint(spec);
  return new TensorError(
    `${about}: got ${got === null ? "a score outside 0..1" : `score ${Number(got.toPrecision(6))}`}, ` +
      `expected probabilities in 0..1 (scores "probabilities", ${scoresReason(plan.scoresWhy)}); ` +
      `${zero}${hint}a transposed tensor, or a wrong scale, gives such numbers too`,
    {
      options: [
        ...(zero === "" ? [] : [{ option: "quantisation" } as const]),
        ...(mayBeLogits ? [{ option: "scores", value } as const] : []),
      ],
    },
  );
}

/** Returns advice for quantised scores whose zero point is the default of 0, else an empty text. */
function adviceOnZeroPoint({ name, type, scale, zeroPoint, channels }: TensorSpec): string {
  const raw = channels?.type ?? type;
  const isQuantised = !isFloat({ type: raw }) && scale !== null;
  if (!isQuantised || [channels?.zeroPoint ?? zeroPoint].flat().some((zero) => zero !== 0)) return "";
  const usual = raw === "i8" ? ", -128 for most probabilities of i8" : "";
  return `${name} has a scale and zeroPoint 0: give its zeroPoint${usual} (real = (raw - zeroPoint) * scale); `;
}

/** True if a head reads a list that may end before its tensor does. Rows after the end are undefined. */
export const isList = ({ marker, count }: Head): boolean => marker !== null || count !== null;

/** Returns the columns of a head that hold scores, each with its channel count and activation. */
export function scoreColumns(h: Head): { f: Column; fn: Fn; channels: number }[] {
  const channels = h.classId || h.rule === "objectness" ? 1 : h.classes;
  const score = { f: h.score, fn: h.scoreFn, channels };
  return h.objectness ? [score, { f: h.objectness, fn: h.objectnessFn, channels: 1 }] : [score];
}

/** True if the decoder treats the values of a column as probabilities, without an activation. */
export const areProbabilities = ({ scores }: Plan, fn: Fn): boolean => scores !== "logits" && fn === "none";

/**
 * Checks every probability of the tensors in the slots. The kernel checks only those that pass the threshold.
 * @returns the count of NaN and -Infinity. The kernel counts Infinity
 * @throws TensorError for a finite value outside 0..1
 */
export function checkRange(work: PlanInMemory): number {
  const { plan } = work;
  let lost = 0;
  for (const h of plan.heads)
    for (const { f, fn, channels } of isList(h) ? [] : scoreColumns(h)) {
      if (!areProbabilities(plan, fn)) continue;
      const s = plan.tensors[f.tensor];
      const slack = slackOf(s);
      everyValue(work, h.cells, f, channels, [-slack, 1 + slack], (v, cell, channel) => {
        if (v !== v || v === -Infinity) lost++;
        if ((v > 1 + slack || v < -slack) && Number.isFinite(v))
          throw rangeErrorOf(plan, s, `${shape(s)}, cell ${cell}, class ${channel}`, v);
        return true;
      });
    }
  return lost;
}

/**
 * Checks the scores in the rows of a list that ends before its tensor does.
 * @returns true if the list had rows: an empty list proves nothing
 * @throws TensorError for a score outside 0..1
 */
export function checkListRange(work: PlanInMemory, image: number): boolean {
  const head = work.plan.heads[0];
  const rows = head.count ? valueIn(work, image, head.count, 0) : head.cells;
  const spec = work.plan.tensors[head.score.tensor];
  const slack = slackOf(spec);
  let cell = 0;
  for (; cell < Math.min(rows, head.cells); cell++) {
    if (head.marker && valueIn(work, image, head.marker, cell) < 0) break;
    const x = valueIn(work, image, head.score, cell);
    if (Number.isFinite(x) && (x > 1 + slack || x < -slack))
      throw rangeErrorOf(work.plan, spec, `${shape(spec)}, row ${cell}`, x);
  }
  return cell > 0;
}
