/** What a list of tensors can be: with a config, the plan; without, every family that fits, with the line to write. */
import { type Config, parseConfig } from "./config.ts";
import { describeConfig, describePlan } from "./describe.ts";
import { TensorError } from "./errors.ts";
import { FAMILIES, type Family, RULES } from "./families.ts";
import { type DecoderOptions, withOptions } from "./options.ts";
import { makePlan } from "./plan.ts";
import { type TensorSpec, type TensorSpecInput, shape, specOf } from "./tensor.ts";

export interface Inspection {
  readonly text: string;
  readonly json: unknown;
}

/** Families that stand for their like in a list without a config: the others read shapes the same way. */
const REPRESENTATIVES: readonly Family[] = ["yolov8", "yolov5", "yolov3", "yolov2", "yolox", "nanodet", "fastestdet", "detr", "ssd", "tflite-postprocess", "blazeface", "ultraface", "boxes"];
const LIKE: Readonly<Partial<Record<Family, string>>> = {
  yolov8: "yolov6 (r2 and later), yolov8, yolov9, yolov10, yolo11, yolo12, yolo26",
  yolov5: "yolov5, yolov7",
  yolov3: "yolov3, yolov4",
  yolox: "yolox, yolov6r1",
  detr: "DETR, RT-DETR",
};

/**
 * @param config a config as `createDecoder` takes it, or `undefined` to see what the shapes alone can be
 * @param specs tensor names, shapes and types; empty: the config alone
 * @throws ConfigError, TensorError as `createDecoder` and the first decode would
 */
export function inspect(config: unknown, specs: readonly TensorSpecInput[] = [], options: DecoderOptions = {}): Inspection {
  const tensors = specs.map((s, i) => specOf(s.name ?? `output${i}`, s));
  if (config !== undefined) {
    const c = withOptions(parseConfig(config), options);
    if (tensors.length > 0) return describePlan(c, makePlan(c, tensors));
    const known = c.outputs?.every((o) => o.dims !== null) === true && c.decodes;
    if (!known) return describeConfig(c);
    const given = (c.outputs ?? []).map((o) => specOf(o.name, { dims: o.dims as readonly number[], ...(o.type === null ? {} : { type: o.type }) }));
    return describePlan(c, makePlan(c, given));
  }
  if (tensors.length === 0) throw new TensorError("got neither a config nor tensors, expected one of them");
  const found = possibilities(tensors, options);
  const lines = found.map((f) => `- ${LIKE[f.family] ?? f.family}, ${f.classes} class${f.classes === 1 ? "" : "es"}: ${f.about}\n    ${f.line}`);
  const head = `${tensors.map(shape).join(", ")} can be:`;
  const none = `${tensors.map(shape).join(", ")}: no family reads this. Known: ${FAMILIES.join(", ")}`;
  return { text: found.length === 0 ? none : [head, ...lines].join("\n"), json: { tensors, possibilities: found } };
}

interface Possibility {
  readonly family: Family;
  readonly classes: number;
  readonly reading: string;
  readonly about: string;
  /** The config to write. */
  readonly line: string;
}

function possibilities(tensors: readonly TensorSpec[], options: DecoderOptions): Possibility[] {
  const out: Possibility[] = [];
  const seen = new Set<string>();
  for (const family of REPRESENTATIVES) {
    for (const classes of classCounts(family, tensors)) {
      for (const anchors of anchorGuesses(family)) {
        const config: Config = withOptions(parseConfig({ family, classes, ...(anchors === null ? {} : { anchors }), ...extras(family) }), { ...options, inputSize: options.inputSize ?? sizeGuess(tensors) });
        for (const r of readingsOf(config, tensors)) {
          const id = `${LIKE[family] ?? family}|${classes}|${r.about}`;
          if (seen.has(id)) continue;
          seen.add(id);
          const parts = [
            `family: "${family}"`,
            `classes: ${classes}`,
            `inputSize: [${(options.inputSize ?? ["width", "height"]).join(", ")}]`,
            ...(anchors === null ? [] : [`anchors: [...${anchors.length} maps]`]),
            ...(family === "ssd" && r.reading === "prior-rows" ? ["priors", "scales or variances"] : []),
          ];
          out.push({ family, classes, reading: r.reading, about: r.about, line: `{ ${parts.join(", ")} }` });
        }
      }
    }
  }
  return out;
}

/** All readings of a config, also where several stand. */
function readingsOf(config: Config, tensors: readonly TensorSpec[]): { reading: string; about: string }[] {
  try {
    const p = makePlan(config, tensors);
    return [{ reading: p.reading, about: p.about }];
  } catch (e) {
    if (!(e instanceof TensorError)) throw e;
    // the message lists them, one a line
    return [...e.message.matchAll(/^ {2}- (.*?) {3}\(reading: "(.*?)"\)$/gm)].map((m) => ({ about: m[1], reading: m[2] }));
  }
}

/** Class counts that some dimension can stand for under a family. */
function classCounts(family: Family, tensors: readonly TensorSpec[]): number[] {
  const out = new Set<number>();
  const head = RULES[family].head;
  for (const t of tensors) {
    for (const d of new Set(t.dims.slice(-3))) {
      if (head === "anchor" && family !== "fastestdet") {
        out.add(d - 5);
        for (const a of [3, 5, 1, 2, 4, 6]) if (d % a === 0) out.add(d / a - 5);
        if (d % 5 === 0 && d / 5 === 5) out.add(1);
      } else if (head === "point" || family === "fastestdet") out.add(d - 5);
      else if (head === "distance") [d - 4, d - 5, d - 64, d, d - 32].forEach((n) => out.add(n));
      else [d, d - 1, d - 4].forEach((n) => out.add(n));
    }
  }
  // numbers of cells are no numbers of classes
  return [...out].filter((n) => Number.isInteger(n) && n >= 1 && n <= 2000).sort((a, b) => a - b);
}

/** Stand-ins for anchors: only their number matters for a shape. */
function anchorGuesses(family: Family): (number[][][] | null)[] {
  if (RULES[family].head !== "anchor" || family === "fastestdet") return [null];
  const set = (n: number): number[][] => Array.from({ length: n }, () => [1, 1]);
  return [3, 5, 1, 2, 4, 6].flatMap((n) => [1, 2, 3, 4].map((maps) => Array.from({ length: maps }, () => set(n))));
}

function extras(family: Family): object {
  if (family === "boxes") return { coordinates: "pixels" };
  return family === "ssd" ? { scales: [10, 10, 5, 5] } : {};
}

/** The input whose maps at strides 8, 16, 32 add up to a dimension, if one is square; else 640. */
function sizeGuess(tensors: readonly TensorSpec[]): readonly [number, number] {
  for (const t of tensors) {
    for (const d of t.dims) for (let s = 64; s <= 1536; s += 32) if (((s / 8) ** 2 * 21) / 16 === d) return [s, s];
  }
  return [640, 640];
}
