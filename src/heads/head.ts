/**
 * What a reading is: one way in which a list of tensors can be what the config says, with a head for each of its maps.
 *
 * `views.ts` says which channels a tensor can have, `places.ts` puts tensors together, and a reading says what their channels mean:
 * `readings/` has those of each kind of head, `readings.ts` says which of them a family has.
 */
import type { Config } from "../config/types.ts";
import type { Activation } from "../core/families.ts";
import { gridsOf, oneBatch, blankExcept, type TensorMatch } from "./match.ts";
import type { HeadQuery } from "./query.ts";
import type { TensorSpec } from "../core/tensor.ts";
import type { Column } from "./channels.ts";

export type Kind = "grid" | "distance" | "prior" | "centre" | "corners" | "topleft";

export type Fn = "none" | "sigmoid" | "softmax" | "tanh" | "exp" | "square" | "squareSigmoid";

/** One (tensor, anchor) that is scanned, cell by cell. Plain data. */
export interface Head {
  /** For people: which tensor, which anchor, which layout. */
  readonly about: string;
  readonly cells: number;
  readonly kind: Kind;
  readonly score: Column;
  readonly classes: number;
  /** Class number of the first class channel. */
  readonly classBase: number;
  readonly scoreFn: Fn;
  /** Softmax: where the logits of cell 0 begin (background included), and how many. */
  readonly softmax: { readonly offset: number; readonly count: number } | null;
  readonly objectness: Column | null;
  readonly objectnessFn: Fn;
  readonly rule: "class" | "product" | "objectness" | "power";
  readonly classId: Column | null;
  readonly marker: Column | null;
  readonly count: Column | null;
  /** `channel` is the step from bin to bin of a distribution. */
  readonly box: Column;
  /** Offsets from `box.offset` to the channels x, y, w, h (or x1 y1 x2 y2, or l t r b). */
  readonly boxChannels: readonly [number, number, number, number];
  readonly bins: number;
  readonly gridWidth: number;
  readonly xyFn: Fn;
  readonly xyScale: number;
  readonly xyBias: number;
  readonly whFn: Fn;
  /** `grid`: factor on f(w), f(h): the anchor, normalised. */
  readonly size: readonly [number, number];
  /** To normalised coordinates. */
  readonly unit: readonly [number, number];
  /** `prior`: f32 rows cx cy w h, normalised, and the factors on the four channels. */
  readonly priors: Float32Array | null;
  readonly variances: readonly [number, number, number, number];
}

/** One way in which the shapes of the tensors make sense. */
export interface Interpretation {
  /** The name that the option `reading` takes. */
  readonly name: ReadingName;
  /** In words: which tensor is what. */
  readonly about: string;
  readonly batch: number;
  readonly classes: number;
  readonly activation: Activation;
  readonly heads: readonly Head[];
  /** Tensors it uses, by index. */
  readonly uses: readonly number[];
  readonly notes: readonly string[];
  /** Inferred where the config did not say. */
  readonly inputSize: readonly [number, number] | null;
}

/** What a set of tensors can be; the option `reading` names one where the shapes leave more. */
export type ReadingName =
  | "anchor-grid"
  | "point-grid"
  | "distance-grid"
  | "dfl-grid"
  | "objectness-rows"
  | "class-rows"
  | "point-rows"
  | "end-to-end"
  | "corner-rows"
  | "prior-rows"
  | "detection-output"
  | "postprocess"
  | "queries"
  | "boxes-scores";

export type Specs = readonly TensorSpec[];

export type ReadShapes = (q: HeadQuery, specs: Specs) => Interpretation[];

const ONES = [1, 1] as const;

/** What a reading says of a head, over what heads share; `logits`: scores are raw. */
export type More<P = TensorMatch> = (p: P, logits: boolean) => Partial<Head>;

/**
 * How many cells of a map lie across the input, and down. Of an input that is no multiple of the stride the last cells stand out:
 * 416 pixels are six and a half cells of 64, in a map of seven.
 */
export function across(q: HeadQuery, { w, h }: TensorMatch["view"]): readonly [number, number] {
  const { inputSize: size } = q;
  const grid = gridsOf(q).find((g) => g.w === w && g.h === h);
  return grid && size ? [size[0] / grid.stride, size[1] / grid.stride] : [w, h];
}

/** A cell of a map, normalised. */
export function unitOf(q: HeadQuery, { view }: TensorMatch): Head["unit"] {
  const [w, h] = across(q, view);
  return view.w ? [1 / w, 1 / h] : ONES;
}

/**
 * A reading of some places, or of parts of them: a head for each. `usual`: what scores are where the config does not
 * say; `null`: probabilities whatever it says, as the network has finished them.
 */
export function buildInterpretation<P extends TensorMatch = TensorMatch>(
  q: HeadQuery,
  name: ReadingName,
  what: string,
  usual: Activation | null,
  more: More<P>,
  whole: readonly TensorMatch[],
  parts: readonly P[] = whole as readonly P[],
  extra: Partial<Interpretation> = {},
): Interpretation {
  const activation = (usual && q.activation) ?? usual ?? "sigmoid";
  const logits = activation === "logits";
  const fn = logits ? "sigmoid" : "none";
  const enters = q.traits.objectness;
  return {
    name,
    about: `${what}: ${whole.map((p) => p.about).join(", ")}`,
    batch: oneBatch(whole),
    classes: q.classes || 1,
    activation,
    heads: parts.map((p) => {
      const { box, view } = p;
      // depthai-core takes the class score alone for YOLOv6 r1 since its #1911
      const objectness = enters === "gate" && q.conventions === "depthai" ? null : p.objectness;
      const own = more(p, logits);
      const side = box.channel * (own.bins || 1);
      return {
        about: p.about,
        cells: view.cells,
        kind: "grid",
        score: p.score,
        classes: q.classes,
        classBase: 0,
        scoreFn: fn,
        softmax: null,
        objectness,
        objectnessFn: objectness ? fn : "none",
        rule:
          enters === "power" ? enters : objectness && q.product && enters !== "gate" ? "product" : "class",
        classId: null,
        marker: null,
        count: null,
        box,
        boxChannels: [0, side, 2 * side, 3 * side],
        bins: 0,
        gridWidth: view.w || 1,
        xyFn: "none",
        xyScale: 1,
        xyBias: 0,
        whFn: "none",
        size: ONES,
        unit: unitOf(q, p),
        priors: null,
        variances: [1, 1, 1, 1],
        ...own,
      };
    }),
    uses: whole.flatMap((p) => p.uses),
    notes: [],
    inputSize: q.inputSize,
    ...extra,
  };
}

/** Offsets of box channels where a format writes y before x. */
export const yFirst = (format: string | null, { box: { channel: c } }: TensorMatch): Partial<Head> =>
  /^c?y/.test(format ?? "") ? { boxChannels: [c, 0, 3 * c, 2 * c] } : {};

/** Boxes that the network decoded. `usual`: their unit where nobody says one; where the input size that it needs is unknown, NaN, which `makePlan` refuses. */
export const plain =
  (
    q: HeadQuery,
    format: string = q.boxFormat ?? "cxcywh",
    usual: Config["coordinates"] = null,
    more: More = () => ({}),
  ): More =>
  (p, logits) => ({
    kind: /^c/.test(format) ? "centre" : /wh/.test(format) ? "topleft" : "corners",
    unit:
      (q.coordinates ?? usual) === "normalised"
        ? ONES
        : q.inputSize
          ? [1 / q.inputSize[0], 1 / q.inputSize[1]]
          : [NaN, NaN],
    ...yFirst(format, p),
    ...more(p, logits),
  });

/** Softmax over so many scores, the first at an offset, if they are logits. */
export const softmax = (logits: boolean | undefined, offset: number, count: number): Partial<Head> =>
  logits ? { scoreFn: "softmax", softmax: { offset, count } } : {};

/** A reading for each place. */
export function each(
  q: HeadQuery,
  name: ReadingName,
  what: string,
  usual: Activation | null,
  more: More,
  places: readonly TensorMatch[],
): Interpretation[] {
  return places.map((p) => buildInterpretation(q, name, what, usual, more, [p]));
}

/** A tensor that is one column. */
export const columnOf = (tensor: number): Column => ({ tensor, offset: 0, channel: 1, cell: 1 });

export const without = (specs: Specs, at: number): Specs => blankExcept(specs, (_, i) => i !== at);
