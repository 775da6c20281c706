/** What a list of tensors can be: with a config, the plan; without, every family that fits, with the line to write. */
import { parseConfig } from "../config/config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { makePlan, planOf, interpretConfig } from "../plan/make.ts";
import { describeConfig, describePlan } from "../plan/describe.ts";
import { TensorError } from "../core/errors.ts";
import { FAMILIES, type Family, TRAITS } from "../core/families.ts";
import { withOptions } from "../config/typed-options.ts";
import { valuesIn } from "../planfile/write.ts";

import { priorsAmong } from "../heads/ssd.ts";
import { knownSpecs } from "../heads/query.ts";
import type { Interpretation } from "../heads/head.ts";
import {
  type TensorData,
  type TensorSpec,
  type TensorSpecInput,
  checkNames,
  shape,
  show,
  specOf,
  volume,
} from "../core/tensor.ts";

/** What `inspect` found: in words, and as plain data. */
export interface Inspection {
  readonly text: string;
  readonly json: unknown;
}

/** Families that stand for their like in a list without a config: the others read shapes the same way. */
const REPRESENTATIVES: readonly Family[] = [
  "yolov8",
  "yolov5",
  "yolov3",
  "yolov2",
  "yolox",
  "nanodet",
  "fastestdet",
  "detr",
  "ssd",
  "tflite-postprocess",
  "blazeface",
  "ultraface",
  "boxes",
];
const LIKE: Readonly<Partial<Record<Family, string>>> = {
  yolov8: "yolov6 (r2 and later), yolov8, yolov9, yolov10, yolo11, yolo12, yolov13, yolo26",
  yolov5: "yolov5, yolov7",
  yolov3: "yolov3, yolov4",
  yolox: "yolox, yolov6r1",
  detr: "DETR, RT-DETR",
};

/**
 * @param config a config as `createDecoder` takes it, or none (`undefined`, `null`) to see what the shapes alone can be
 * @param specs tensor names, shapes and types; empty: the config alone
 * @param valuesOf values at hand, by name, where boxes rest on them (prior boxes that the network gives)
 * @throws ConfigError, TensorError as `createDecoder` and the first decode would
 */
export function inspect(
  config: unknown,
  specs: readonly TensorSpecInput[] = [],
  options: DecoderOptions = {},
  valuesOf: (name: string) => TensorData | null = () => null,
): Inspection {
  if (!Array.isArray(specs))
    throw new TensorError(`got tensors ${show(specs)}, expected a list of {name, dims, type}`);
  const tensors = (specs as readonly (TensorSpecInput | null)[]).map((s, i) =>
    specOf(s?.name ?? `output${i}`, s as TensorSpecInput),
  );
  checkNames(tensors);
  if (config !== undefined && config !== null) {
    const c = withOptions(parseConfig(config), options);
    const specs = tensors.length > 0 ? tensors : knownSpecs(c);
    if (specs === null) return describeConfig(c);
    const { values, missed } = valuesOrZeros(specs, priorsIn(specs, c.roles), valuesOf);
    const plan = makePlan(c, specs, values);
    const notes = [...missed].map(
      (name) => `the values of ${name} are not at hand: zeros stand for them here`,
    );
    return describePlan(c, { ...plan, notes: [...plan.notes, ...notes] });
  }
  if (tensors.length === 0) throw new TensorError("got neither a config nor tensors, expected one of them");
  // whether boxes and scores are quantised, and how, does not change what the shapes can be
  const readable = tensors.map((t) => (t.scale === null ? { ...t, scale: STAND_IN } : t));
  const more = withMore(readable, options ?? {});
  // coefficients of masks are of no use without their prototypes, and those are no head
  const heads = more.length > 0 ? readable.filter((t) => !isPrototypes(t)) : readable;
  const read = possibilities(heads, options ?? {}, valuesOf);
  const best = Math.max(...[...more, ...read].map((f) => f.likelihood));
  const all = [...more.map((f) => ({ ...f, likelihood: best })), ...read];
  const found = all.filter((f) => f.likelihood === best);
  const lines = found.map(
    (f) =>
      `- ${f.about}: ${f.classes === null ? "" : `${f.classes} class${f.classes === 1 ? "" : "es"}, `}${f.families.join(", ")}\n    ${f.line}`,
  );
  const shapes = tensors.map(shape).join(", ");
  if (found.length === 0) lines.push(`no family reads this. Known: ${FAMILIES.join(", ")}`);
  if (all.length > found.length)
    lines.push(`(less likely, left out: ${all.length - found.length}; a config settles it)`);
  const bare = tensors.filter((t) => t.scale === null);
  if (bare.length > 0)
    lines.push(
      `integers: ${bare.map(({ name, type }) => `${name} (${type})`).join(", ")}: those that hold boxes or scores need scale and zeroPoint, where real = (raw - zeroPoint) * scale`,
    );
  return { text: [`${shapes} can be:`, ...lines].join("\n"), json: { tensors, possibilities: all } };
}

/** A scale with which bytes span 0..1, for integers that come without one. */
const STAND_IN = 1 / 256;

/** The output that holds the prior boxes. */
const priorsIn = (
  specs: readonly TensorSpec[],
  roles: DecoderOptions["roles"] | null,
): TensorSpec | undefined => specs[priorsAmong(specs, { roles: roles ?? null })];

/** Values at hand, by index. Of priors that are still to come only the number matters: zeros stand for them, and `missed` names them. */
function valuesOrZeros(
  specs: readonly TensorSpec[],
  priors: TensorSpec | undefined,
  valuesOf: (name: string) => TensorData | null,
): { values: (index: number) => ArrayLike<number> | null; missed: Set<string> } {
  const given = valuesIn(specs, valuesOf);
  const missed = new Set<string>();
  const values = (i: number): ArrayLike<number> | null => {
    const table = given(i);
    if (table !== null || priors === undefined || specs[i] !== priors) return table;
    missed.add(priors.name);
    return new Float32Array(volume(priors.dims));
  };
  return { values, missed };
}

interface Possibility {
  readonly families: readonly string[];
  /** `null`: a column says which class, and the shape does not say how many there are. */
  readonly classes: number | null;
  readonly reading: string;
  readonly about: string;
  /** The config to write. */
  readonly line: string;
  /** More is likelier: all tensors used, square maps, as many rows as an input has cells, a usual number of classes. */
  readonly likelihood: number;
}

const USUAL_CLASSES = new Set([1, 20, 80, 90, 91, 365]);

function possibilities(
  tensors: readonly TensorSpec[],
  options: DecoderOptions,
  valuesOf: (name: string) => TensorData | null,
): Possibility[] {
  const priors = priorsIn(tensors, options.roles ?? null);
  const { values } = valuesOrZeros(tensors, priors, valuesOf);
  const found = new Map<string, Possibility & { families: string[] }>();
  // what the options settle is not guessed: they would go over each guess, and the lines below would say what was not read
  const families =
    options.family === undefined ? REPRESENTATIVES : FAMILIES.filter((f) => f === options.family);
  const known = options.classes ?? options.labels?.length;
  for (const family of families) {
    for (const classes of known === undefined ? classCounts(family, tensors, priors) : [known]) {
      for (const anchors of anchorGuesses(family)) {
        const more = extras(family, tensors, priors);
        const stated = { family, classes, ...(anchors === null ? {} : { anchors }), ...more };
        const inputSize = options.inputSize ?? sizeGuess(tensors);
        const config: Config = withOptions(parseConfig(stated), { ...options, inputSize });
        for (const r of readingsIn(config, tensors, values)) {
          // distributions of eight bins are NanoDet's, whose scores are not logits as those of the others
          if (r.heads[0].bins === 8 && family !== "nanodet") continue;
          const labelled = r.heads.some((h) => h.classId !== null) && known === undefined;
          const id = `${labelled ? "" : classes}|${r.about}`;
          const before = found.get(id);
          const name = options.family ?? LIKE[family] ?? family;
          if (before !== undefined) {
            if (!before.families.includes(name)) before.families.push(name);
            continue;
          }
          const size = `[${(options.inputSize ?? ["width", "height"]).join(", ")}]`;
          const parts = [
            `family: "${family}"`,
            ...(labelled ? [] : [`classes: ${classes}`]),
            `inputSize: ${size}`,
            ...(anchors === null || r.name !== "anchor-grid"
              ? []
              : [`anchors: ${anchors.map((a) => a.length).join(" + ")} pairs`]),
            ...(family === "ssd" && r.name === "prior-rows"
              ? [
                  ...(priors === undefined ? ["priors"] : []),
                  ...(holdVariances(priors, tensors) ? [] : ["scales or variances"]),
                ]
              : []),
            ...(more.roles === undefined
              ? []
              : [`roles: { labels: "${more.roles.labels}", scores: "${more.roles.scores}" }`]),
          ];
          found.set(id, {
            families: [name],
            classes: labelled ? null : classes,
            reading: r.name,
            about: r.about,
            line: `{ ${parts.join(", ")} }${more.roles === undefined ? "" : ", or labels and scores the other way round"}`,
            likelihood: likelihood(r, labelled ? null : classes, tensors, inputSize),
          });
        }
      }
    }
  }
  return [...found.values()].sort((a, b) => b.likelihood - a.likelihood);
}

/** Prototypes of masks, which YOLOv5-seg and YOLOv8-seg give beside the boxes: 32 maps at a quarter of the input. */
const isPrototypes = ({ dims }: TensorSpec): boolean =>
  dims.length === 4 && (dims[1] === 32 ? dims[2] > 32 : dims[3] === 32 && dims[1] > 32);

/**
 * What networks that do more than detect may be: 32 coefficients of masks behind the classes, told by prototypes beside them or by a usual
 * number of classes, or 17 keypoints of three numbers behind one class. Their boxes are read of what stands before.
 */
function withMore(tensors: readonly TensorSpec[], options: DecoderOptions): Possibility[] {
  const prototypes = tensors.some(isPrototypes);
  return tensors.flatMap((t) => {
    if (t.dims.length !== 3) return [];
    const [, a, b] = t.dims;
    const channels = a > b ? 2 : 1;
    const k = t.dims[channels];
    // of rows YOLOv5 is usual, of planes YOLOv8
    const [family, fixed] = a > b ? (["yolov5", 5] as const) : (["yolov8", 4] as const);
    if ((options.family ?? family) !== family) return [];
    const masks = k - fixed - 32;
    const pose = !prototypes && k === fixed + 1 + 51;
    const found: [number, string][] = [
      ...(pose ? [[1, "17 keypoints"] as [number, string]] : []),
      ...(masks > 0 && (prototypes || USUAL_CLASSES.has(masks))
        ? [[masks, "32 coefficients of masks"] as [number, string]]
        : []),
    ];
    return found.flatMap(([classes, what]) => {
      if ((options.classes ?? options.labels?.length ?? classes) !== classes) return [];
      const own = fixed + classes;
      const before = { ...t, dims: t.dims.map((d, axis) => (axis === channels ? own : d)) };
      return possibilities([before], { ...options, family, classes }, () => null)
        .slice(0, 1)
        .map((f) => ({
          ...f,
          about: `${f.about}, the first ${own} of ${k} channels alone; ${what} behind them are not decoded`,
        }));
    });
  });
}

function likelihood(
  { about, uses }: Interpretation,
  classes: number | null,
  tensors: readonly TensorSpec[],
  input: readonly [number, number],
): number {
  let points = 0;
  if (tensors.every((_, i) => uses.includes(i))) points += 4;
  const square =
    /\[(?:1,)?(?:\d+,)?(\d+),(\d+)\] as (?:NCHW|CHW)|\[(?:1,)?(\d+),(\d+),\d+\] as (?:NHWC|HWC)/.exec(about);
  if (square !== null && (square[1] ?? square[3]) === (square[2] ?? square[4])) points += 2;
  // rows of a whole input: one for each cell of its maps, or of three anchors each
  const cells = [8, 16, 32].reduce((n, s) => n + Math.ceil(input[0] / s) * Math.ceil(input[1] / s), 0);
  const rows = Math.max(...tensors.map((t) => Math.max(...t.dims)));
  if (rows === cells || rows === 3 * cells || rows <= 1000) points += 1;
  if (classes === null || USUAL_CLASSES.has(classes)) points += 1;
  // more classes than rows is a tensor lying on its side
  if (classes !== null && classes > 400) points -= 4;
  return points;
}

/** All readings of a config, also where several stand; of one that stands alone, whether it makes a plan too. */
function readingsIn(
  config: Config,
  tensors: readonly TensorSpec[],
  valuesOf: (index: number) => ArrayLike<number> | null,
): readonly Interpretation[] {
  try {
    const all = interpretConfig(config, tensors, valuesOf);
    if (all.found.length === 1) planOf(config, all);
    return all.found;
  } catch (e) {
    if (e instanceof TensorError) return [];
    throw e;
  }
}

/** Whether the priors come as an output, as long as the boxes, with variances of the same length behind them. */
const holdVariances = (priors: TensorSpec | undefined, tensors: readonly TensorSpec[]): boolean =>
  priors !== undefined && tensors.some((t) => volume(t.dims) * 2 === volume(priors.dims));

/** Class counts that some dimension can stand for under a family. `priors`: their output, which says how many flat boxes there are. */
function classCounts(
  family: Family,
  tensors: readonly TensorSpec[],
  priors: TensorSpec | undefined,
): number[] {
  const out = new Set<number>();
  const head = TRAITS[family].head;
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
  if (family === "ssd" && priors !== undefined)
    for (const cells of [4, 8].map((n) => volume(priors.dims) / n))
      for (const t of tensors) [0, 1].forEach((n) => out.add(volume(t.dims) / cells - n));
  // numbers of cells are no numbers of classes
  return [...out].filter((n) => Number.isInteger(n) && n >= 1 && n <= 2000).sort((a, b) => a - b);
}

/** Stand-ins for anchors: only their number matters for a shape. */
function anchorGuesses(family: Family): (number[][][] | null)[] {
  if (TRAITS[family].head !== "anchor" || family === "fastestdet") return [null];
  const set = (n: number): number[][] => Array.from({ length: n }, () => [1, 1]);
  return [3, 5, 1, 2, 4, 6].flatMap((n) =>
    [1, 2, 3, 4].map((maps) => Array.from({ length: maps }, () => set(n))),
  );
}

/** What a family cannot be read without; stand-ins, as only lengths matter for a shape. */
function extras(
  family: Family,
  tensors: readonly TensorSpec[],
  priors: TensorSpec | undefined,
): {
  readonly [option: string]: unknown;
  readonly roles?: { readonly labels: string; readonly scores: string };
} {
  if (family === "boxes") return { coordinates: "pixels" };
  const boxes = tensors.find((t) => t.dims.length >= 2 && t.dims[t.dims.length - 1] === 4);
  const cells = boxes?.dims[boxes.dims.length - 2];
  if (family === "tflite-postprocess") {
    const [labels, scores, ...others] = tensors.filter(
      (t) => t !== boxes && t.dims[t.dims.length - 1] === cells,
    );
    const named = [labels, scores].some((t) => /class|label|score|[:_]\d$/i.test(t?.name ?? ""));
    return scores === undefined || others.length > 0 || named
      ? {}
      : { roles: { labels: labels.name, scores: scores.name } };
  }
  if (family !== "ssd" || holdVariances(priors, tensors)) return {};
  return {
    scales: [10, 10, 5, 5],
    ...(cells === undefined || cells === 0 ? {} : { priors: new Float32Array(cells * 4) }),
  };
}

/** The input whose maps at strides 8, 16, 32 add up to a dimension, if one is square; else 640. */
function sizeGuess(tensors: readonly TensorSpec[]): readonly [number, number] {
  for (const t of tensors) {
    for (const d of t.dims)
      for (let s = 64; s <= 1536; s += 32) if (((s / 8) ** 2 * 21) / 16 === d) return [s, s];
  }
  return [640, 640];
}
