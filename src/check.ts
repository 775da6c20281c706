/**
 * What the first decode of a plan looks at in full, and later ones only for candidates: values that show that the
 * config describes another network. A wrong activation or a wrong unit gives boxes that look like boxes.
 */
import * as A from "./abi.ts";
import { value } from "./baseline/value.ts";
import { TensorError } from "./errors.ts";
import type { Layout } from "./layout.ts";
import type { Memory } from "./memory.ts";
import type { Plan } from "./plan.ts";
import type { Field, Head } from "./reading.ts";
import { TYPE_BYTES, TYPE_CODES, shape, volume } from "./tensor.ts";

/** A probability outside 0..1, with the option that would explain it. */
export function outOfRange(plan: Plan, about: string, got: number | null): TensorError {
  return new TensorError(
    `${about}: got ${got === null ? "a score outside 0..1" : `score ${Number(got.toPrecision(6))}`}, expected probabilities in 0..1 (activation "sigmoid", ${plan.activationWhy}); ` +
      'if the tensor holds logits, say activation: "logits"',
  );
}

/** Every score and objectness of a plan whose network should have activated them; infinite ones are dropped later. */
export function checkProbabilities(m: Memory, plan: Plan, layout: Layout): void {
  if (plan.activation === "logits") return;
  for (const h of plan.heads) {
    if (h.scoreFn === "none")
      checkField(m, plan, layout, h, h.score, h.label !== null || h.rule === "objectness" ? 1 : h.classes);
    if (h.objectness !== null && h.objectnessFn === "none") checkField(m, plan, layout, h, h.objectness, 1);
  }
}

function checkField(m: Memory, plan: Plan, layout: Layout, h: Head, f: Field, classes: number): void {
  const s = plan.tensors[f.tensor];
  const scale = s.scale ?? 1;
  const bytes = TYPE_BYTES[s.type];
  const type = TYPE_CODES[s.type];
  const slack = s.type === "f32" ? 1e-5 : s.type === "f16" ? 2 ** -9 : scale;
  const perImage = volume(s.dims) / plan.batch;
  for (let image = 0; image < plan.batch; image++) {
    const base = image * perImage + f.offset;
    for (let c = 0; c < classes; c++) {
      for (let i = 0; i < h.cells; i++) {
        const v = value(
          m,
          type,
          layout.slots[f.tensor] + (base + c * f.channel + i * f.cell) * bytes,
          scale,
          s.zeroPoint,
        );
        if ((v > 1 + slack || v < -slack) && Number.isFinite(v))
          throw outOfRange(plan, `${shape(s)}, cell ${i}, class ${c}`, v);
      }
    }
  }
}

/** Whether logits that all lie in 0..1 are there: not wrong by itself, but worth a note. */
export function looksActivated(m: Memory, plan: Plan, layout: Layout): boolean {
  if (plan.activation !== "logits") return false;
  let above = false;
  for (const h of plan.heads) {
    if (h.scoreFn === "none") return false;
    const s = plan.tensors[h.score.tensor];
    for (let c = 0; c < h.classes; c++) {
      for (let i = 0; i < h.cells; i++) {
        const at =
          layout.slots[h.score.tensor] +
          (h.score.offset + c * h.score.channel + i * h.score.cell) * TYPE_BYTES[s.type];
        const v = value(m, TYPE_CODES[s.type], at, s.scale ?? 1, s.zeroPoint);
        if (v < 0 || v > 1) return false;
        if (v > 0) above = true;
      }
    }
  }
  return above;
}

/**
 * Pixels taken for 0..1, or the other way round, from the first candidates there are: as pixels, boxes that all
 * lie within two pixels of the corner; as 0..1, boxes several images wide.
 */
export function checkUnits(m: Memory, plan: Plan, at: number): void {
  const n = m.i32[(at >> 2) + A.P_CANDIDATES];
  const h = plan.heads[0];
  if (
    n === 0 ||
    (h.kind !== "centre" && h.kind !== "corners" && h.kind !== "topleft") ||
    plan.inputSize === null
  )
    return;
  const boxes = m.i32[(at >> 2) + A.P_BOXES] >> 2;
  let most = 0;
  for (let i = 0; i < n * 4; i++) most = Math.max(most, Math.abs(m.f32[boxes + i]));
  const pixels = h.unit[0] !== 1;
  if (pixels && most * Math.max(...plan.inputSize) <= 2)
    throw new TensorError(
      `${h.about}: got boxes within ${Number((most * Math.max(...plan.inputSize)).toPrecision(3))} pixels of the corner, expected pixels of a ${plan.inputSize.join("x")} input; if they are 0..1, say coordinates: "normalised"`,
    );
  if (!pixels && most > 16)
    throw new TensorError(
      `${h.about}: got box coordinates up to ${Number(most.toPrecision(4))}, expected 0..1; if they are pixels, say coordinates: "pixels"`,
    );
}
