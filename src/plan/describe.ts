/** A plan in words. */
import type { AnchorSet, Config } from "../config/types.ts";
import type { Plan } from "./plan.ts";
import { familyOf } from "../heads/query.ts";
import { cellsOf } from "../heads/match.ts";
import { few, isFloat } from "../core/tensor.ts";

/** What a decoder takes its tensors for, and why. */
export interface Description {
  /** For people. */
  readonly text: string;
  /** For programs and bug reports: the plan as plain data, typed arrays left out. */
  readonly json: unknown;
}

export function describeConfig(config: Config): Description {
  const { labels, classes, inputSize, decodes, anchorSets } = config;
  const { family, why: familyWhy } = familyOf(
    config,
    (config.outputs ?? []).filter(({ name }) => config.headOutputs?.includes(name) ?? true),
  );
  return said(
    [
      `config: ${config.format}${formatOf(config)}`,
      ...(decodes ? [`family: ${family} (${familyWhy})`] : []),
      `classes: ${classes ?? NOT_GIVEN}${labels ? `, labels ${few(labels, 3)}` : ""}`,
      ...(anchorSets?.length ? [`anchors: ${anchorSets.map(anchorsOf).join("; ")}`] : []),
      `input: ${inputSize?.join("x") ?? NOT_GIVEN}`,
      `thresholds: confidence ${confidence(config)}, IoU ${config.iouThreshold}, at most ${config.maxDetections} detections`,
      "tensors: not known yet; the plan is made at the first decode, or from the option outputs",
    ],
    { config },
  );
}

/** Options that were typed are there to decode with, and have no word for it. */
const formatOf = ({ decodes, note, format: source, outputFormat }: Config): string =>
  !decodes
    ? `, ${note ?? "nothing to decode"}`
    : source === "options"
      ? ""
      : `, output_format ${outputFormat ?? "not given (raw: the host decodes)"}`;

const anchorsOf = ({ side, output, anchors }: AnchorSet, i: number): string =>
  `${anchors.map((a) => a.join(" x ")).join(", ")} for ${output ?? (side === null ? `map ${i + 1}` : `the map ${side} wide`)}`;

const NOT_GIVEN = "not given";

const confidence = ({ confidenceThreshold: c }: Config): string =>
  typeof c === "number" ? String(c) : "per class";

export function describePlan(config: Config, plan: Plan): Description {
  const { rules: r, activation, classes, inputSize } = plan;
  const { conventions, confidenceThreshold, iouThreshold, maxDetections } = config;
  const heads = plan.heads.map((h, i) => ({ ...h, firstSource: cellsOf(plan.heads.slice(0, i)) }));
  const fn = heads.some((h) => h.scoreFn === "softmax") ? "softmax" : "sigmoid";
  const nms = { none: "none", class: "per class at IoU", all: "across classes at IoU" }[r.nms];
  return said(
    [
      `family: ${plan.family} (${plan.familyWhy})`,
      `reading: ${plan.reading}: ${plan.about}`,
      `activation: ${activation} (${activation === "sigmoid" ? "the tensor holds probabilities" : `the decoder applies the ${fn}`}) (${plan.activationWhy})`,
      `input: ${inputSize?.join("x") ?? `${NOT_GIVEN}, boxes are normalised`}; batch ${plan.batch}; ${classes} class${classes === 1 ? "" : "es"}`,
      ...plan.tensors.map(
        (t) =>
          `tensor ${t.name}: [${t.dims.join(",")}] ${t.type}${isFloat(t) || t.scale === null ? "" : `, real = (raw ${t.zeroPoint < 0 ? "+" : "-"} ${Math.abs(t.zeroPoint)}) * ${t.scale}`}`,
      ),
      ...heads.map(
        (h) =>
          `head: ${h.about}: ${h.cells} cells from number ${h.firstSource}, box ${h.kind}${h.bins > 0 ? ` of ${h.bins} bins` : ""}, score ${h.rule}${h.scoreFn === "none" ? "" : `, ${h.scoreFn}`}`,
      ),
      `rules: ${conventions}: score ${r.score}, confidence ${r.gate} ${confidence(config)}, suppression ${nms}${r.nms === "none" ? "" : ` ${r.suppress} ${iouThreshold}`}, clamp ${r.clamp}${r.multiLabel ? ", multi-label" : ""}${r.pixelOffset === 1 && inputSize !== null ? ", +1 pixel" : ""}, at most ${r.maxCandidates === 0 ? "" : `${r.maxCandidates} candidates, `}${maxDetections} detections`,
      ...(plan.keep ? [`keep: classes ${plan.keep.join(", ")}`] : []),
      ...plan.notes.map((n) => `note: ${n}`),
    ],
    { ...plan, heads, conventions, confidenceThreshold, iouThreshold, maxDetections },
  );
}

/** Lines, and data through JSON: what a bug report would carry. Typed arrays become their length. */
const said = (lines: readonly string[], data: object): Description => ({
  text: lines.join("\n"),
  json: JSON.parse(
    JSON.stringify(data, (_, v: unknown) =>
      ArrayBuffer.isView(v) ? `${(v as Float32Array).length} numbers` : v,
    ),
  ) as unknown,
});
