/** A plan in words. */
import type { Config } from "./config.ts";
import type { Plan } from "./plan.ts";

/** What a decoder takes its tensors for, and why. */
export interface Description {
  /** For people. */
  readonly text: string;
  /** For programs and bug reports: the plan as plain data, typed arrays left out. */
  readonly json: unknown;
}

export function describeConfig(config: Config, why?: string): Description {
  const text = [
    `config: ${config.source}, ${config.decodes ? `output_format ${config.outputFormat ?? "not given (raw: the host decodes)"}` : (config.note ?? "nothing to decode")}`,
    `classes: ${config.classes ?? "not given"}${config.labels === null ? "" : `, labels ${config.labels.slice(0, 3).join(", ")}${config.labels.length > 3 ? ", ..." : ""}`}`,
    `input: ${config.inputSize?.join("x") ?? "not given"}`,
    `thresholds: confidence ${confidence(config)}, IoU ${config.iouThreshold}, at most ${config.maxDetections} detections`,
    why ?? "tensors: not known yet; the plan is made at the first decode, or from the option outputs",
  ].join("\n");
  return { text, json: plain({ config }) };
}

const confidence = (c: Config): string =>
  typeof c.confidenceThreshold === "number" ? String(c.confidenceThreshold) : "per class";

export function describePlan(config: Config, plan: Plan): Description {
  const r = plan.rules;
  let first = 0;
  const heads = plan.heads.map((h) => {
    const here = { ...h, firstSource: first };
    first += h.cells;
    return here;
  });
  const text = [
    `family: ${plan.family} (${plan.familyWhy})`,
    `reading: ${plan.reading}: ${plan.about}`,
    `activation: ${plan.activation === "sigmoid" ? "sigmoid (the tensor holds probabilities)" : `logits (the decoder applies the ${plan.heads.some((h) => h.scoreFn === "softmax") ? "softmax" : "sigmoid"})`} (${plan.activationWhy})`,
    `input: ${plan.inputSize?.join("x") ?? "not given, boxes are normalised"}; batch ${plan.batch}; ${plan.classes} class${plan.classes === 1 ? "" : "es"}`,
    ...plan.tensors.map(
      (t) =>
        `tensor ${t.name}: [${t.dims.join(",")}] ${t.type}${t.type === "f32" || t.type === "f16" || t.scale === null ? "" : `, real = (raw - ${t.zeroPoint}) * ${t.scale}`}`,
    ),
    ...heads.map(
      (h) =>
        `head: ${h.about}: ${h.cells} cells from number ${h.firstSource}, box ${h.kind}${h.bins > 0 ? ` of ${h.bins} bins` : ""}, score ${h.rule}${h.scoreFn === "none" ? "" : `, ${h.scoreFn}`}`,
    ),
    `rules: ${config.conventions}: score ${r.score}, confidence ${r.gate} ${confidence(config)}, suppression ${r.nms === "none" ? "none" : `${r.nms === "class" ? "per class" : "across classes"} at IoU ${r.suppress} ${config.iouThreshold}`}, clamp ${r.clamp}${r.multiLabel ? ", multi-label" : ""}${r.pixelOffset === 1 ? ", +1 pixel" : ""}, at most ${plan.maxDetections} detections`,
    ...(plan.keep === null ? [] : [`keep: classes ${plan.keep.join(", ")}`]),
    ...plan.notes.map((n) => `note: ${n}`),
  ].join("\n");
  return {
    text,
    json: plain({
      ...plan,
      heads,
      conventions: config.conventions,
      confidenceThreshold: config.confidenceThreshold,
      iouThreshold: config.iouThreshold,
    }),
  };
}

/** Through JSON: what a bug report would carry. Typed arrays become their length. */
function plain(x: unknown): unknown {
  return JSON.parse(
    JSON.stringify(x, (_, v: unknown) =>
      ArrayBuffer.isView(v) ? `${(v as Float32Array).length} numbers` : v,
    ),
  ) as unknown;
}
