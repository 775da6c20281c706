/** Readings of maps, and of rows that are maps laid out cell by cell: the network left the boxes undecoded. */
import type { AnchorSet } from "../config/types.ts";
import type { Activation } from "../core/families.ts";
import {
  byLayout,
  gridsOf,
  join,
  largestFirst,
  levels,
  mayPlay,
  pairs,
  type TensorMatch,
  playersOf,
  matchOne,
  slices,
} from "./match.ts";
import {
  across,
  type ReadShapes,
  buildInterpretation,
  type Interpretation,
  type ReadingName,
  softmax,
  unitOf,
} from "./head.ts";
import { objectnessRows } from "./rows.ts";
import type { HeadQuery } from "./query.ts";
import type { TensorSpec } from "../core/tensor.ts";
import { type Column, fiveDims, maps, move, none, rows } from "./channels.ts";

/** [N, A*(5+C), h, w] per output, and [N,A,h,w,5+C]. */
export const anchorGrid: ReadShapes = (q, specs) => {
  const { classes: c, traits, scaleXY } = q;
  const sets = q.anchorSets ?? [];
  const mine = playersOf(q, specs, "boxes");
  const found = (c === 1 ? [6, 5] : [5 + c]).flatMap((k) =>
    Array.from({ length: 17 }, (_, n) =>
      matchOne(mine, n ? maps : fiveDims, k * (n || 1), 0, Math.min(5, k - 1), 4).map((p) => ({
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
  return levels(specs, fits, (p) => p.anchors).map((whole) => {
    const { w, h } = whole[0].view;
    const stride = q.strides?.[0] ?? [8, 32, 16][whole.length] ?? 8;
    const size = q.inputSize ?? (cells ? null : ([w * stride, h * stride] as const));
    const parts = whole.flatMap((p, rank) =>
      p.anchors.map((anchor, i) => {
        const at = (f: Column): Column => move(f, i * p.step);
        return {
          ...p,
          about: `${p.about}, anchor ${i} (${anchor.join(" x ")} ${cells ? "cells" : "px"})`,
          box: at(p.box),
          score: at(p.score),
          objectness: at(p.objectness as Column),
          anchor,
          xyScale:
            scaleXY !== null && typeof scaleXY === "object"
              ? scaleXY[rank]
              : (scaleXY ?? (traits.square ? 2 : 1)),
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
    return buildInterpretation(
      q,
      "anchor-grid",
      "anchor grids",
      traits.raw,
      ({ anchor, alone, score, view, xyScale }, logits) => {
        const [iw, ih] = cells ? across(q, view) : (size as readonly [number, number]);
        const soft = traits.softmax && logits;
        return {
          ...(alone
            ? { rule: "objectness", ...(soft ? { scoreFn: "none" } : {}) }
            : softmax(soft, score.offset, c)),
          xyFn: logits ? "sigmoid" : "none",
          xyScale,
          xyBias: -(xyScale - 1) / 2,
          whFn: !traits.square ? "exp" : logits ? "squareSigmoid" : "square",
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
  maps: readonly (TensorMatch & { readonly anchors: AnchorSet["anchors"] })[],
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

/** Maps that hold a whole head each: those that `roles` names for the boxes, unless it names none of these. */
const whole = (q: HeadQuery, specs: readonly TensorSpec[]): readonly TensorSpec[] =>
  specs.some((s) => mayPlay(q, "boxes", s.name)) ? playersOf(q, specs, "boxes") : specs;

/** YOLOX and YOLOv6 r1: maps [N,5+C,h,w], split ones of 4, 1 and C channels, and rows that the network left undecoded. */
export const points: ReadShapes = (q, specs) => {
  const c = q.classes;
  const point = (
    name: ReadingName,
    what: string,
    whole: TensorMatch[],
    parts?: TensorMatch[],
    notes: string[] = [],
  ): Interpretation =>
    buildInterpretation(
      q,
      name,
      what,
      q.traits.raw,
      (p) => ({ whFn: "exp", size: unitOf(q, p) }),
      whole,
      parts,
      {
        notes,
      },
    );
  const grid = (whole: TensorMatch[]): Interpretation => point("point-grid", "point grids", whole);
  const split = join(q, specs, pairs(q, specs, maps, 4, c), "objectness", maps, 1);
  return [
    ...levels(specs, matchOne(whole(q, specs), maps, 5 + c, 0, 5, 4)).map(grid),
    ...disjoint(split).map(grid),
    ...(q.boxFormat
      ? objectnessRows(q, specs)
      : matchOne(specs, rows, 5 + c, 0, 5, 4).flatMap((p) =>
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
function disjoint(places: readonly TensorMatch[]): TensorMatch[][] {
  const all = largestFirst(places);
  const used = new Set<number>();
  const take = ({ uses }: TensorMatch): boolean => {
    const free = !uses.some((i) => used.has(i));
    if (free) uses.forEach((i) => used.add(i));
    return free;
  };
  const first = all.filter(take);
  used.clear();
  const last = all.reverse().filter(take).reverse();
  return all.length > 0 ? [first, last] : [];
}

/** Bins of a side that networks are built with: none at all, 16 in YOLOv8, 8 in NanoDet, 17 in PP-YOLOE and YOLOv6, 32 in wider ones trained alike. */
const BINS = [0, 16, 8, 17, 32];

/**
 * Left, top, right, bottom, as numbers or as distributions of bins: exporter maps [N,5+C,h,w] with a confidence that
 * gates, DFL maps [N,4*bins+C,h,w], maps or rows of boxes and of classes, and all maps of a DFL head in one tensor of
 * rows, boxes first (YOLOv8) or classes first (NanoDet).
 */
export const distances: ReadShapes = (q, specs) => {
  const c = q.classes;
  const { raw } = q.traits;
  const distance = (
    bins: number,
    usual: Activation,
    whole: readonly TensorMatch[],
    parts?: TensorMatch[],
  ): Interpretation =>
    buildInterpretation(
      q,
      bins ? "dfl-grid" : "distance-grid",
      bins ? `distance distributions of ${bins} bins` : "left-top-right-bottom distances",
      usual,
      () => ({ kind: "distance", rule: "class", bins, xyBias: 0.5 }),
      whole,
      parts,
    );
  // exporters of plain distances put the sigmoid into the network, raw DFL maps do not have it
  const fused = (
    k: number,
    bins: number,
    box: number,
    score: number,
    objectness?: number,
  ): Interpretation[] =>
    levels(specs, matchOne(whole(q, specs), maps, k, box, score, objectness)).map((whole) =>
      distance(bins, bins ? raw : "sigmoid", whole),
    );
  const split = (found: readonly TensorMatch[], bins: number): Interpretation[] =>
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
        ...matchOne(specs, inRows, k + c, nano ? c : 0, nano ? 0 : k).flatMap((p) =>
          slices(q, p).map((parts) => distance(bins, raw, [p], parts)),
        ),
      ];
    }),
  ];
};

/** [N,5+C,h,w]: objectness, then tx ty tw th, then classes; all scores activated by the network. */
export const fastestdet: ReadShapes = (q, specs) =>
  levels(specs, matchOne(whole(q, specs), maps, 5 + q.classes, 1, 5, 0)).map((whole) =>
    buildInterpretation(
      q,
      "anchor-grid",
      "FastestDet map",
      q.traits.raw,
      () => ({ xyFn: "tanh", whFn: "sigmoid" }),
      whole,
    ),
  );
