/**
 * Shapes -> readings: every way in which a list of tensors can be what the config says, each with its heads.
 *
 * One reading left: that is the plan. None, or more than one: `plan.ts` refuses with the list, since a shape that
 * could mean two things is never guessed. `views.ts` says which channels a tensor can have, `places.ts` puts tensors
 * together, and here stands what their channels mean.
 */
import type { AnchorSet, Config } from "./config.ts";
import { refuse } from "./errors.ts";
import type { Activation, Family, FamilyRules } from "./families.ts";
import {
  type Place,
  byLayout,
  cellsOf,
  gridsOf,
  gridsOfRows,
  join,
  largestFirst,
  levels,
  may,
  oneBatch,
  only,
  pairs,
  playing,
  preferred,
  single,
  slices,
} from "./places.ts";
import { type TensorSpec, volume } from "./tensor.ts";
import { type Field, beside, fiveDims, maps, move, none, rows, rowsOrFlat } from "./views.ts";

export type Kind = "grid" | "distance" | "prior" | "centre" | "corners" | "topleft";
export type Fn = "none" | "sigmoid" | "softmax" | "tanh" | "exp" | "square" | "squareSigmoid";

/** One (tensor, anchor) that is scanned, cell by cell. Plain data. */
export interface Head {
  /** For people: which tensor, which anchor, which layout. */
  readonly about: string;
  readonly cells: number;
  readonly kind: Kind;
  readonly score: Field;
  readonly classes: number;
  /** Class number of the first class channel. */
  readonly classBase: number;
  readonly scoreFn: Fn;
  /** Softmax: where the logits of cell 0 begin (background included), and how many. */
  readonly softmax: { readonly offset: number; readonly count: number } | null;
  readonly objectness: Field | null;
  readonly objectnessFn: Fn;
  readonly rule: "class" | "product" | "objectness" | "power";
  readonly label: Field | null;
  readonly marker: Field | null;
  readonly count: Field | null;
  /** `channel` is the step from bin to bin of a distribution. */
  readonly box: Field;
  /** Offsets from `box.offset` to the channels x, y, w, h (or x1 y1 x2 y2, or l t r b). */
  readonly boxChannels: readonly [number, number, number, number];
  readonly bins: number;
  readonly columns: number;
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
export interface Reading {
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

/** What the readings need of the config; see `Config` for what is not here. */
export interface Question extends Omit<Config, "family" | "rules" | "classes" | "activation"> {
  readonly family: Family;
  readonly rules: FamilyRules;
  /** NaN where the config does not say: no number of channels is right then. */
  readonly classes: number;
  /** What the config or the default of its source says; `null`: by family and form. */
  readonly activation: Activation | null;
  readonly product: boolean;
  readonly countBackground: boolean;
  /** Raw values of a tensor where they are at hand (priors given as an input), else `null`. */
  readonly valuesOf: (index: number) => ArrayLike<number> | null;
}

type Specs = readonly TensorSpec[];
type Reader = (q: Question, specs: Specs) => Reading[];

// ---- From places to a reading -------------------------------------------------------------------------------

const ONES = [1, 1] as const;

/** What a reading says of a head, over what heads share; `logits`: scores are raw. */
type More<P = Place> = (p: P, logits: boolean) => Partial<Head>;

/**
 * How many cells of a map lie across the input, and down. Of an input that is no multiple of the stride the last cells stand out:
 * 416 pixels are six and a half cells of 64, in a map of seven.
 */
function across(q: Question, { w, h }: Place["view"]): readonly [number, number] {
  const { inputSize: size } = q;
  const grid = gridsOf(q).find((g) => g.w === w && g.h === h);
  return grid && size ? [size[0] / grid.stride, size[1] / grid.stride] : [w, h];
}

/** A cell of a map, normalised. */
function unitOf(q: Question, { view }: Place): Head["unit"] {
  const [w, h] = across(q, view);
  return view.w ? [1 / w, 1 / h] : ONES;
}

/**
 * A reading of some places, or of parts of them: a head for each. `usual`: what scores are where the config does not
 * say; `null`: probabilities whatever it says, as the network has finished them.
 */
function reading<P extends Place = Place>(
  q: Question,
  name: ReadingName,
  what: string,
  usual: Activation | null,
  more: More<P>,
  whole: readonly Place[],
  parts: readonly P[] = whole as readonly P[],
  extra: Partial<Reading> = {},
): Reading {
  const activation = (usual && q.activation) ?? usual ?? "sigmoid";
  const logits = activation === "logits";
  const fn = logits ? "sigmoid" : "none";
  const enters = q.rules.objectness;
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
        label: null,
        marker: null,
        count: null,
        box,
        boxChannels: [0, side, 2 * side, 3 * side],
        bins: 0,
        columns: view.w || 1,
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
const yFirst = (format: string | null, { box: { channel: c } }: Place): Partial<Head> =>
  /^c?y/.test(format ?? "") ? { boxChannels: [c, 0, 3 * c, 2 * c] } : {};

/** Boxes that the network decoded, `usual`: what they are counted in where nobody says. A size that is not known is met in `makePlan`. */
const plain =
  (
    q: Question,
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
const softmax = (logits: boolean | undefined, offset: number, count: number): Partial<Head> =>
  logits ? { scoreFn: "softmax", softmax: { offset, count } } : {};

// ---- Maps, and what is left of them in rows -------------------------------------------------------------------

/** [N, A*(5+C), h, w] per output, and [N,A,h,w,5+C]. */
const anchorGrid: Reader = (q, specs) => {
  const { classes: c, rules, scaleXY } = q;
  const sets = q.anchorSets ?? [];
  const mine = playing(q, specs, "boxes");
  const found = (c === 1 ? [6, 5] : [5 + c]).flatMap((k) =>
    Array.from({ length: 17 }, (_, n) =>
      single(mine, n ? maps : fiveDims, k * (n || 1), 0, Math.min(5, k - 1), 4).map((p) => ({
        ...p,
        // objectness is the score where there is one class, and no channel for it
        alone: k < 6,
        count: n || specs[p.box.tensor].dims[1],
        // from anchor to anchor: one after the other among the channels, or outermost
        step: k * (n ? p.view.channel : p.view.cells),
      })),
    ).flat(),
  );
  // maps in order of size: which is which is told by width, or by name, or by rank among those of one layout
  const fits = byLayout(found).flatMap((mates) => {
    const widths = [...new Set(mates.map((p) => p.view.w))].sort((a, b) => b - a);
    return mates.flatMap((p) => {
      const { w } = p.view;
      const set =
        sets.find((s) => s.side === w) ??
        sets.find((s) => s.output === specs[p.box.tensor].name) ??
        // sides are given and none is this width: not one of ours
        (sets.length === widths.length && sets.every((s) => s.side === null)
          ? sets[widths.indexOf(w)]
          : null);
      return set?.anchors.length === p.count ? { ...p, anchors: set.anchors } : [];
    });
  });
  // a mask without a map: outputs are missing, and half of the boxes would be too
  if (!sets.every(({ side }) => side === null || fits.some((p) => p.view.w === side))) return [];
  const cells = q.family === "yolov2";
  return levels(specs, fits).map((whole) => {
    const { w, h } = whole[0].view;
    const stride = q.strides?.[0] ?? [8, 32, 16][whole.length] ?? 8;
    const size = q.inputSize ?? (cells ? null : ([w * stride, h * stride] as const));
    const parts = whole.flatMap((p, rank) =>
      p.anchors.map((anchor, i) => {
        const at = (f: Field): Field => move(f, i * p.step);
        return {
          ...p,
          about: `${p.about}, anchor ${i} (${anchor.join(" x ")} ${cells ? "cells" : "px"})`,
          box: at(p.box),
          score: at(p.score),
          objectness: at(p.objectness as Field),
          anchor,
          xyScale:
            scaleXY !== null && typeof scaleXY === "object"
              ? (scaleXY[rank] ?? 1)
              : (scaleXY ?? (rules.square ? 2 : 1)),
        };
      }),
    );
    const notes =
      size === q.inputSize
        ? []
        : [
            `input size ${size?.join("x")} from the ${w}x${h} map at stride ${stride}; the option inputSize settles it`,
          ];
    notes.push(...strangeAnchors(whole, cells ? null : size));
    return reading(
      q,
      "anchor-grid",
      "anchor grids",
      rules.raw,
      ({ anchor, alone, score, view, xyScale }, logits) => {
        const [iw, ih] = cells ? across(q, view) : (size as readonly [number, number]);
        const soft = rules.softmax && logits;
        return {
          ...(alone
            ? { rule: "objectness", ...(soft ? { scoreFn: "none" } : {}) }
            : softmax(soft, score.offset, c)),
          xyFn: logits ? "sigmoid" : "none",
          xyScale,
          xyBias: -(xyScale - 1) / 2,
          whFn: !rules.square ? "exp" : logits ? "squareSigmoid" : "square",
          size: [anchor[0] / iw, anchor[1] / ih],
        };
      },
      whole,
      parts,
      { inputSize: size, notes },
    );
  });
};

/**
 * Anchors in another unit than their family has them in, or in another order than that of the maps. `size`: of the input, whose pixels are
 * the unit; `null`: cells are.
 */
function strangeAnchors(
  maps: readonly (Place & { readonly anchors: AnchorSet["anchors"] })[],
  size: readonly [number, number] | null,
): string[] {
  const sides = maps.map((p) => p.anchors.map(([w, h]) => Math.max(w, h)));
  const largest = Math.max(...sides.flat());
  const { w, h } = maps[maps.length - 1].view;
  if (size === null)
    return largest > 2 * Math.max(w, h)
      ? [`anchors of up to ${largest} cells on a ${w}x${h} map: are they in pixels? YOLOv2 has them in cells`]
      : [];
  const cell = size[0] / w;
  if (largest < cell / 2)
    return [
      `no anchor is larger than ${largest} pixels beside cells of ${cell}: are they in cells, or 0..1?`,
    ];
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
  return mean(sides[0]) > mean(sides[sides.length - 1])
    ? ["the largest map has the largest anchors: is their order that of the maps, the largest map first?"]
    : [];
}

/** YOLOX and YOLOv6 r1: maps [N,5+C,h,w], split ones of 4, 1 and C channels, and rows that the network left undecoded. */
const points: Reader = (q, specs) => {
  const c = q.classes;
  const point = (
    name: ReadingName,
    what: string,
    whole: Place[],
    parts?: Place[],
    notes: string[] = [],
  ): Reading =>
    reading(q, name, what, q.rules.raw, (p) => ({ whFn: "exp", size: unitOf(q, p) }), whole, parts, {
      notes,
    });
  const grid = (whole: Place[]): Reading => point("point-grid", "point grids", whole);
  const split = join(q, specs, pairs(q, specs, maps, 4, c), "objectness", maps, 1);
  return [
    ...levels(specs, single(specs, maps, 5 + c, 0, 5, 4)).map(grid),
    ...disjoint(split).map(grid),
    ...(q.boxFormat
      ? objectnessRows(q, specs)
      : single(specs, rows, 5 + c, 0, 5, 4).flatMap((p) =>
          slices(q, p).map((parts) =>
            point("point-rows", "undecoded boxes, objectness, classes", [p], parts, [
              'boxes taken as undecoded (cell and stride still to be applied); boxFormat: "cxcywh" says they are decoded',
            ]),
          ),
        )),
  ];
};

/**
 * Places of several maps, largest first, each tensor in one of them. Where a tensor can play two parts (objectness and
 * score of one class, or boxes and as many classes), those found first and those found last: two readings.
 */
function disjoint(places: readonly Place[]): Place[][] {
  const all = largestFirst(places);
  const used = new Set<number>();
  const take = ({ uses }: Place): boolean => {
    const free = !uses.some((i) => used.has(i));
    if (free) uses.forEach((i) => used.add(i));
    return free;
  };
  const first = all.filter(take);
  used.clear();
  const last = all.reverse().filter(take).reverse();
  return all.length > 0 ? [first, last] : [];
}

/** Bins of a side that networks are built with: none at all, 16 in YOLOv8, 8 in NanoDet, 17 in PP-YOLOE and YOLOv6. */
const BINS = [0, 16, 8, 17, 32];

/**
 * Left, top, right, bottom, as numbers or as distributions of bins: exporter maps [N,5+C,h,w] with a confidence that
 * gates, DFL maps [N,4*bins+C,h,w], maps or rows of boxes and of classes, and all maps of a DFL head in one tensor of
 * rows, boxes first (YOLOv8) or classes first (NanoDet).
 */
const distances: Reader = (q, specs) => {
  const c = q.classes;
  const { raw } = q.rules;
  const distance = (bins: number, usual: Activation, whole: readonly Place[], parts?: Place[]): Reading =>
    reading(
      q,
      bins ? "dfl-grid" : "distance-grid",
      bins ? `distance distributions of ${bins} bins` : "left-top-right-bottom distances",
      usual,
      () => ({ kind: "distance", rule: "class", bins, xyBias: 0.5 }),
      whole,
      parts,
    );
  // exporters of plain distances put the sigmoid into the network, raw DFL maps do not have it
  const fused = (k: number, bins: number, box: number, score: number, objectness?: number): Reading[] =>
    levels(specs, single(specs, maps, k, box, score, objectness)).map((whole) =>
      distance(bins, bins ? raw : "sigmoid", whole),
    );
  const split = (found: readonly Place[], bins: number): Reading[] =>
    byLayout(found).flatMap((mates) => disjoint(mates).map((whole) => distance(bins, raw, whole)));
  // NanoDet writes classes before distances
  const nano = q.family === "nanodet";
  return [
    ...fused(5 + c, 0, 0, 5, 4),
    ...BINS.flatMap((bins) => {
      const k = 4 * (bins || 1);
      // decoded boxes are rows too; distances in rows come as distributions
      const inRows = bins ? rows : none;
      return [
        ...fused(k + c, bins, nano ? c : 0, nano ? 0 : k),
        ...split(pairs(q, specs, maps, k, c), bins),
        ...split(
          pairs(q, specs, inRows, k, c).flatMap((p) => {
            const map = gridsOf(q).find((g) => g.cells === p.view.cells);
            return map ? { ...p, view: { ...p.view, w: map.w, h: map.h } } : [];
          }),
          bins,
        ),
        ...single(specs, inRows, k + c, nano ? c : 0, nano ? 0 : k).flatMap((p) =>
          slices(q, p).map((parts) => distance(bins, raw, [p], parts)),
        ),
      ];
    }),
  ];
};

/** [N,5+C,h,w]: objectness, then tx ty tw th, then classes; all scores activated by the network. */
const fastestdet: Reader = (q, specs) =>
  levels(specs, single(specs, maps, 5 + q.classes, 1, 5, 0)).map((whole) =>
    reading(
      q,
      "anchor-grid",
      "FastestDet map",
      q.rules.raw,
      () => ({ xyFn: "tanh", whFn: "sigmoid" }),
      whole,
    ),
  );

// ---- Rows of boxes that the network decoded -------------------------------------------------------------------

/** Decoded rows or planes of 5+C: cx cy w h, objectness, classes. */
const objectnessRows = (
  q: Question,
  specs: Specs,
  name: ReadingName = "objectness-rows",
  more = plain(q),
): Reading[] =>
  each(q, name, "boxes, objectness, classes", "sigmoid", more, single(specs, rows, 5 + q.classes, 0, 5, 4));

/**
 * What networks of distances are exported as: [1,A,5+C] of the YOLO26 exporter, corners in pixels, whose confidence
 * repeats the best class, so that it only gates; 4+C in one tensor or in two; and one row per detection
 * (YOLOv10, YOLO26, exports with NMS inside).
 */
const decodedDistances: Reader = (q, specs) => {
  const c = q.classes;
  return [
    // of the others, YOLOv6 alone is exported with an objectness (of 1)
    ...(q.family === "yolo26"
      ? objectnessRows(
          q,
          specs,
          "corner-rows",
          plain(q, q.boxFormat ?? "xyxy", null, () => ({ rule: "class" })),
        )
      : q.family === "yolov6"
        ? objectnessRows(q, specs)
        : []),
    ...each(q, "class-rows", "boxes, classes", "sigmoid", plain(q), [
      ...single(specs, rows, 4 + c, 0, 4),
      ...pairs(q, specs, rows, 4, c),
    ]),
    ...each(
      q,
      "end-to-end",
      "detections x1 y1 x2 y2 score class",
      null,
      plain(q, q.boxFormat ?? "xyxy", null, (p) => ({ classes: 1, label: beside(p.box, 5) })),
      single(specs, rows, 6, 0, 4).filter(isRows),
    ),
  ];
};

const isRows = (p: Place): boolean => p.layout === "rows";

/** A reading for each place. */
function each(
  q: Question,
  name: ReadingName,
  what: string,
  usual: Activation | null,
  more: More,
  places: readonly Place[],
): Reading[] {
  return places.map((p) => reading(q, name, what, usual, more, [p]));
}

/** DETR (softmax, last class = nothing) and RT-DETR (sigmoid): boxes cx cy w h in 0..1, one row per query. */
const queries: Reader = (q, specs) => {
  const c = q.classes;
  const { raw } = q.rules;
  const query = (what: string, a: Activation, places: readonly Place[], more?: More): Reading[] =>
    each(q, "queries", what, a, plain(q, undefined, "normalised", more), places);
  return [
    ...query("boxes, independent classes (RT-DETR)", raw, pairs(q, specs, rows, 4, c)),
    ...query("boxes, classes and nothing (DETR)", raw, pairs(q, specs, rows, 4, c + 1), (_, logits) =>
      softmax(logits, 0, c + 1),
    ),
    // one tensor of rows [N,Q,4+C] (Ultralytics' export): probabilities already; roles that name two leave none to find
    ...(q.roles?.boxes && q.roles.scores
      ? []
      : query("boxes, classes", "sigmoid", single(specs, rows, 4 + c, 0, 4))),
  ];
};

/** SSD DetectionOutput [1,1,N,7]: image, label, confidence, x1, y1, x2, y2; -1 as image ends the list. */
const detectionOutput: Reader = (q, specs) =>
  each(
    q,
    "detection-output",
    "image label score x1 y1 x2 y2",
    null,
    plain(q, "xyxy", "normalised", ({ box }) => ({
      classes: 1,
      label: beside(box, -2),
      marker: beside(box, -3),
    })),
    single(specs, rows, 7, 3, 2).filter(isRows),
  );

/** TFLite_Detection_PostProcess: boxes [1,N,4] (y1 x1 y2 x2), classes [1,N], scores [1,N], count [1]. */
const postprocess: Reader = (q, specs) => {
  const format = q.boxFormat ?? "yxyx";
  // the operator's own names: no suffix boxes, :1 classes, :2 scores, :3 count. TensorFlow 2 counts from the other end: :0 count,
  // :1 scores, :2 classes, :3 boxes
  const turned = specs.some((s) => /[:_]3$/.test(s.name) && volume(s.dims) > 1 && rows(s, 4).length > 0);
  const usual = (suffix: number, word: string): string =>
    specs.find((s) => new RegExp(`[:_]${suffix}$|${word}`, "i").test(s.name) && rows(s, 1).length > 0)
      ?.name ?? "";
  const roles = {
    labels: usual(turned ? 2 : 1, "class|label"),
    scores: usual(turned ? 1 : 2, "score"),
    ...q.roles,
  };
  const own = { ...q, roles };
  const at = specs.findIndex((s) => s.name === roles.labels);
  const tensor = specs.findIndex(
    (s, i) => i !== at && volume(s.dims) === 1 && may(own, "count", s.name) && !may(own, "scores", s.name),
  );
  const count = tensor < 0 ? null : { ...columnOf(tensor), channel: 0, cell: 0 };
  return at < 0
    ? []
    : pairs(own, without(specs, at), rows, 4, 1)
        .filter((p) => p.layout === "rows rows")
        .map((p) =>
          reading(
            q,
            "postprocess",
            `boxes (${format}), scores, classes ${roles.labels}${count ? `, count ${specs[tensor].name}` : ""}`,
            null,
            plain(q, format, "normalised", () => ({
              classes: 1,
              label: columnOf(at),
              count,
            })),
            [{ ...p, uses: [...p.uses, at, ...(count ? [tensor] : [])] }],
          ),
        );
};

/** A tensor that is one column. */
const columnOf = (tensor: number): Field => ({ tensor, offset: 0, channel: 1, cell: 1 });
const without = (specs: Specs, at: number): Specs => only(specs, (_, i) => i !== at);

/** Boxes the network decoded, with scores [N], [N,C] and perhaps labels [N]. */
const boxesScores: Reader = (q, specs) => {
  const at = q.roles?.labels ? specs.findIndex((s) => may(q, "labels", s.name)) : -1;
  const widths =
    at >= 0
      ? [1]
      : q.classes
        ? scoreWidths(q)
        : [...new Set(specs.flatMap((s) => s.dims.slice(-1)))].filter((n) => n !== 4 || specs.length > 2);
  const format = q.boxFormat ?? "xyxy";
  const usual = q.family === "ultraface" ? "normalised" : null;
  return widths.flatMap((k) =>
    scored(
      q,
      "boxes-scores",
      `boxes (${format}), scores`,
      k,
      plain(q, format, usual, () => (at < 0 ? {} : { label: columnOf(at) })),
      pairs(q, without(specs, at), rows, 4, k),
      at,
    ),
  );
};

// ---- Score columns with a background among them, and prior boxes ------------------------------------------------

/** Number of the class that means "nothing here", `false` for none. */
const backgroundOf = (q: Question): number | false =>
  q.background ?? (q.family === "blazeface" || q.family === "boxes" ? false : 0);

/** "classes" may count the background (labels of a mobilenet config do) or leave it out. */
const scoreWidths = (q: Question): number[] =>
  q.background === false || q.family === "blazeface" ? [q.classes] : [q.classes, q.classes + 1];

/** Readings whose scores have `k` columns, the background perhaps among them. `extra`: a tensor that they use besides, or -1. */
function scored(
  q: Question,
  name: ReadingName,
  what: string,
  k: number,
  more: More,
  places: readonly Place[],
  extra: number,
  notes: readonly string[] = [],
): Reading[] {
  const nothing = k === 1 ? false : backgroundOf(q);
  if (nothing && nothing !== k - 1 && places.length > 0)
    refuse("background", `class column ${nothing} of ${k}`, `0, ${k - 1} or false`);
  const first = nothing === 0 ? 1 : 0;
  const classes = nothing === false ? k : k - 1;
  // a convention may leave the background out of the numbers
  const shift = q.countBackground ? 0 : first;
  const { raw, softmax: soft } = q.rules;
  return places.map((p) =>
    reading(
      q,
      name,
      what,
      raw,
      (_, logits) => ({
        classes,
        classBase: first - shift,
        score: beside(p.score, first),
        ...softmax(soft && logits, 0, k),
        ...more(p, logits),
      }),
      [extra < 0 ? p : { ...p, uses: [...p.uses, extra] }],
      undefined,
      { classes: Math.max(q.classes || 0, first + classes) - shift, notes },
    ),
  );
}

/** Raw SSD: offsets [N,R,4], scores [N,R,C], and a prior (anchor, default box) for each row. */
const priorRows: Reader = (q, specs) => {
  const face = q.family === "blazeface";
  const at = specs.findIndex((s) => (q.roles?.priors ? may(q, "priors", s.name) : PRIOR_NAME.test(s.name)));
  const rest = without(specs, at);
  const table = at < 0 ? q.priors : q.valuesOf(at);
  if (!table) return [];
  const boxCells = single(rest, rowsOrFlat, 4).map((p) => p.view.cells);
  const widths = q.classes
    ? scoreWidths(q)
    : rest
        .flatMap((s) => boxCells.map((cells) => volume(s.dims) / cells))
        .filter((n) => n > 1 && n !== 4 && Number.isInteger(n));
  // blazeface has keypoints behind the box
  const channels = face ? rest.flatMap((s) => s.dims.filter((d) => d >= 12 && d <= 18)) : [4];
  return [...new Set(channels)].flatMap((kb) =>
    [...new Set(widths)].flatMap((width) =>
      pairs(q, rest, rowsOrFlat, kb, width).flatMap((p) => {
        const box = priorBox(q, table, p.view.cells);
        return box
          ? scored(
              q,
              "prior-rows",
              `offsets, scores, ${p.view.cells} priors (${box.format})`,
              width,
              (at) => ({
                kind: "prior",
                whFn: face ? "none" : "exp",
                priors: box.priors,
                variances: box.variances,
                ...yFirst(q.boxFormat, at),
              }),
              [p],
              at,
              box.notes,
            )
          : [];
      }),
    ),
  );
};

/** Offsets or decoded boxes. Without variances or priors nothing tells which: both stand. */
const offsetsOrBoxes: Reader = (q, specs) => {
  const decoded = q.boxFormat === "xyxy";
  return [
    ...(decoded ? [] : priorRows(q, specs)),
    ...(decoded || (!q.variances && q.priors === null) ? boxesScores(q, specs) : []),
  ];
};

export const PRIOR_NAME = /prior|anchor/i;

type Four = Head["variances"];

/** A table of priors as cx cy w h normalised, and the factors that go with it. `null`: no table of that length. */
function priorBox(
  q: Question,
  given: ArrayLike<number>,
  cells: number,
): { format: string; priors: Float32Array; variances: Four; notes: string[] } | null {
  const n = cells * 4;
  const both = given.length === 2 * n;
  if (!both && (given.length !== n || !q.variances)) return null;
  const format =
    q.priorFormat ??
    (both ? "xyxy" : q.family !== "ssd" ? "cxcywh" : q.boxFormat === "cycxhw" ? "cycxhw" : "xyxy");
  const row = (i: number): Four => [given[i], given[i + 1], given[i + 2], given[i + 3]];
  const priors = new Float32Array(n);
  let turned = 0;
  for (let i = 0; i < n; i += 4) {
    const [a, b, c, d] = row(i);
    if (c < a || d < b) turned++;
    priors.set(
      format === "xyxy"
        ? [(a + c) / 2, (b + d) / 2, c - a, d - b]
        : format === "cycxhw"
          ? [b, a, d, c]
          : [a, b, c, d],
      i,
    );
  }
  const notes: string[] = [];
  if (q.priorFormat === null && format === "xyxy" && turned * 4 > cells)
    notes.push(
      `${turned} of ${cells} priors have x_max < x_min or y_max < y_min as corners: if they are centre and size, say priorFormat "cxcywh", or "cycxhw" (TensorFlow, whose factors are scales)`,
    );
  const variances = q.variances ?? row(n);
  if (!q.variances) {
    // one set of variances for all, as every PriorBox layer writes; else the table holds what no factor can say
    for (let i = 0; i < n; i++) if (given[n + i] !== variances[i % 4]) return null;
    notes.push(`variances ${variances.map((v) => Math.fround(v).toPrecision(3)).join(", ")} from the priors`);
  }
  return { format, priors, variances, notes };
}

// ---- Which readings a family has ------------------------------------------------------------------------------

/** Shapes for a message: tensors of so many channels each. */
const shapesOf = (channels: readonly (number | string)[], before: string, after: string): string =>
  channels.map((k) => `[1,${before}${k}${after}]`).join(" + ");
const mapsOf = (...channels: number[]): string => shapesOf(channels, "", ",h,w");
const rowsOf = (...channels: (number | string)[]): string => shapesOf(channels, "N,", "");
const rowsOfBoxes = (classes: number): string => rowsOf(4, classes || "C");
const rowsOfDetections = (): string => "[1,1,N,7]";

/** The readings of a family, or else of its kind of head, and the shapes they are for. */
const READERS: { readonly [name: string]: readonly [(classes: number, q: Question) => string, ...Reader[]] } =
  {
    anchor: [
      (c, { anchorSets }) =>
        `${anchorSets?.map((s) => `[1,${s.anchors.length} x (5+${c}),h,${s.side ?? "w"}]`).join(", ") || "anchors for maps"}; ${rowsOf(5 + c)}`,
      anchorGrid,
      objectnessRows,
    ],
    point: [(c) => `${mapsOf(5 + c)}; ${rowsOf(5 + c)} with inputSize`, points],
    distance: [
      (c) => [rowsOf(4 + c), rowsOf(4, c), mapsOf(5 + c), mapsOf(64, c), rowsOf(6)].join("; "),
      distances,
      decodedDistances,
    ],
    nanodet: [(c) => `${rowsOf(32, c)}; ${rowsOf(32 + c)}; with inputSize`, distances],
    fastestdet: [(c) => mapsOf(5 + c), fastestdet],
    detr: [(c) => `${rowsOf(4, c)}; ${rowsOf(4, c + 1)}`, queries],
    ssd: [
      (_, { priors, variances }) =>
        `${rowsOfDetections()}; ${rowsOf(4, "C")} with 4 N numbers in the option priors (got ${priors?.length ?? "none"}; boxwright/priors makes those of standard networks), and variances or scales (got ${variances ? "them" : "none"}), or 8 N with variances behind`,
      priorRows,
      detectionOutput,
    ],
    "ssd-detection-output": [rowsOfDetections, detectionOutput],
    "tflite-postprocess": [
      () => `${rowsOf(4, 1, 1)} + [1], told apart by name or by roles: {boxes, labels, scores, count}`,
      postprocess,
    ],
    blazeface: [() => `${rowsOf(16, 1)} with inputSize`, priorRows],
    ultraface: [
      (c) => `${rowsOfBoxes(c)} with variances, or with boxFormat: "xyxy" if they are decoded`,
      offsetsOrBoxes,
    ],
    boxes: [rowsOfBoxes, boxesScores],
  };

const readersOf = (q: Question): (typeof READERS)[string] => READERS[q.family] ?? READERS[q.rules.head];

/** What the family's tensors look like, for a message. */
export const expectedShapes = (q: Question): string =>
  Number.isNaN(q.classes) && /anchor|point|distance|detr/.test(q.rules.head + q.family)
    ? "the number of classes (option classes, or labels)"
    : `${readersOf(q)[0](q.classes, q)}, channels first or last`;

/** Every reading of `specs` under the question, best described first. Empty: none fits. */
export function readings(q: Question, specs: Specs): readonly Reading[] {
  const [, ...readers] = readersOf(q);
  const all = readers
    .flatMap((read) => read(q, specs))
    .filter((r) => q.reading === null || r.name === q.reading);
  return settleEndToEnd(q, settleMaps(q, all));
}

/**
 * [N,R,6] of a two-class (or one-class, with objectness) network is also the shape of an end-to-end result. Where
 * the input size is known, arithmetic tells: raw rows come one for each cell of the maps.
 */
function settleEndToEnd(q: Question, all: readonly Reading[]): readonly Reading[] {
  const [end] = all.filter(isEnd);
  const rest = all.filter((r) => !isEnd(r));
  if (!end || rest.length === 0 || !q.inputSize) return all;
  const cells = (r: Reading): number => cellsOf(r.heads);
  const mapsOfRows = (r: Reading): number => gridsOfRows(q, cells(r))?.length ?? 0;
  const raw = rest.filter((r) => mapsOfRows(r) > (q.strides ? 0 : 2));
  if (raw.length > 0) return raw;
  // as many as one or two maps have cells may be chance: 300 detections, and 20 x 15 cells
  if (rest.some(mapsOfRows)) return /10|26/.test(q.family) ? [end] : all;
  // an export with NMS inside gives corners: whoever says otherwise may mean the other reading
  if (q.boxFormat?.startsWith("c")) return all;
  return all.every((r) => cells(r) === cells(end)) ? all.filter(isEnd) : all;
}

const isEnd = (r: Reading): boolean => r.name === "end-to-end";

/**
 * [N,K,1,w] is a map one cell high, and the shape of planes too; [N,R,K] is rows of a batch, and a map without one. A map that
 * the input has at some stride is that map, and one that it has at none is no map where another reading stands.
 */
function settleMaps(q: Question, all: readonly Reading[]): readonly Reading[] {
  const sizes = gridsOf(q);
  const isGrid = (r: Reading): boolean => /-grid$/.test(r.name);
  const grids = all.filter(
    (r) => isGrid(r) && r.heads.every((h) => sizes.some((g) => g.w === h.columns && g.cells === h.cells)),
  );
  const left = all.filter(
    (r) => !/-rows$/.test(r.name) || !grids.some((g) => r.uses.every((i) => g.uses.includes(i))),
  );
  return sizes.length > 0 ? preferred(left, (r) => !isGrid(r) || grids.includes(r)) : left;
}
