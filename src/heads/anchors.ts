/** Reads anchor heads: feature maps [N, A*(5+C), h, w], [N,A,h,w,5+C], [N,A,5+C,h,w] and [N,h,w,A,5+C]. */
import type { AnchorSet } from "../config/types.ts";
import { buildInterpretation, type HeadFields, softmax } from "./build.ts";
import { type Column, fiveDims, maps, move, type Views } from "./channels.ts";
import { cellsAcross, gridsOf } from "../shapes/grids.ts";
import type { Interpretation, Specs } from "./head.ts";
import { byLayout, levels, matchOne, playersOf, type TensorMatch } from "./match.ts";
import type { CountedQuery } from "./query.ts";

/** Largest number of anchors that a map may have. */
const MAX_ANCHORS = 16;

/** A match of a tensor whose channels may hold all anchors of a map. */
interface AnchorMap extends TensorMatch {
  /** True if objectness is the only score: there is one class and no class channel. */
  readonly alone: boolean;
  readonly count: number;
  /** Step from anchor to anchor, in elements. */
  readonly step: number;
}

/** A feature map with its anchors from the config. */
interface FittedMap extends AnchorMap {
  readonly anchors: AnchorSet["anchors"];
}

/** One anchor of a map. */
interface AnchorPart extends AnchorMap {
  readonly anchor: NonNullable<TensorMatch["anchor"]>;
  readonly xyScale: number;
}

/** Returns the interpretations as anchor heads. The config must state the anchors. */
export function anchorMaps(query: CountedQuery, specs: Specs): Interpretation[] {
  const sets = query.anchorSets ?? [];
  const fits = fitted(sets, specs, candidates(query, specs));
  // Give up if an anchor set fits no map: an output must be missing, and its objects would not be detected.
  if (!sets.every(({ side }) => side === null || fits.some(({ view }) => view.w === side))) return [];
  return levels(specs, fits, ({ anchors }) => anchors).map((matches) => readMaps(query, matches));
}

/** True if a tensor has the anchors inside each cell. The x and y of such maps are raw, before the sigmoid. */
const hasAnchorsInside = ({ view }: TensorMatch): boolean => view.layout === "NhwAK";

/** Returns the layouts with a dimension for the anchors. ncnn joins height and width: [A,h*w,K]. */
const withAnchors =
  (query: CountedQuery): Views =>
  (spec, k) => {
    const [, cells, last] = spec.dims;
    const grid = spec.dims.length === 3 && last === k && gridsOf(query).find((g) => g.cells === cells);
    if (!grid) return fiveDims(spec, k);
    return [{ batch: 1, cells, channel: 1, cell: k, layout: "NAhwK", w: grid.w, h: grid.h }];
  };

/** Returns every match of a tensor with anchors. A task's channels follow the other channels of each anchor. */
function candidates(query: CountedQuery, specs: Specs): AnchorMap[] {
  const { classes, traits } = query;
  const ignored = traits.ignored ?? 0;
  const mine: Specs = playersOf(query, specs, "boxes");
  const extraOf = ({ box }: TensorMatch): number => specs[box.tensor].extra ?? 0;
  return (classes === 1 ? [6 + ignored, 5] : [5 + classes + ignored]).flatMap((channels) =>
    Array.from({ length: MAX_ANCHORS + 1 }, (_, n) => {
      // n = 0 stands for tensors in which the anchors have a separate dimension.
      const all = mine.map(({ extra = 0, ...spec }) => ({ ...spec, extra: extra * (n || 1) }));
      const matches = matchOne(all, n > 0 ? maps : withAnchors(query), {
        count: channels * (n || 1),
        boxes: 0,
        scores: Math.min(5, channels - 1),
        objectness: 4,
      });
      return matches.map((match) => ({
        ...match,
        alone: channels < 6,
        count: n || specs[match.box.tensor].dims.slice(-4)[hasAnchorsInside(match) ? 2 : 0],
        step:
          (channels + extraOf(match)) *
          (n > 0 ? match.view.channel : hasAnchorsInside(match) ? 1 : match.view.cells),
      }));
    }).flat(),
  );
}

/** Assigns an anchor set to each map: by the map's width, by the output's name, or by the rank of the map's size. */
function fitted(sets: readonly AnchorSet[], specs: Specs, maps: readonly AnchorMap[]): FittedMap[] {
  return byLayout(maps).flatMap((mates) => {
    const widths = [...new Set(mates.map(({ view }) => view.w))].sort((a, b) => b - a);
    // Assign by rank only if the config states no widths, and has as many anchor sets as there are map sizes.
    const isRanked = sets.length === widths.length && sets.every(({ side }) => side === null);
    return mates.flatMap((map) => {
      const { w } = map.view;
      const set =
        sets.find(({ side }) => side === w) ??
        sets.find(({ output }) => output === specs[map.box.tensor].name) ??
        (isRanked ? sets[widths.indexOf(w)] : null);
      return set?.anchors.length === map.count ? { ...map, anchors: set.anchors } : [];
    });
  });
}

/** Returns the interpretation of maps with anchors. `matches` has the largest map first. */
function readMaps(query: CountedQuery, matches: readonly FittedMap[]): Interpretation {
  const { traits, inputSize: stated } = query;
  const inCells = traits.anchorUnit === "cells";
  const { w, h } = matches[0].view;
  const stride = query.strides?.[0] ?? [8, 32, 16][matches.length] ?? 8;
  const inputSize = stated ?? (inCells ? null : ([w * stride, h * stride] as const));
  const areInside = matches.every(hasAnchorsInside);
  const mixed =
    areInside && traits.scoresInCells && query.scores === null
      ? [
          "scores taken as probabilities beside raw x, y, w, h, as YOLOv4 of the ONNX model zoo has them; " +
            'scores: "logits" says that scores are raw too',
        ]
      : [];
  const inferred =
    inputSize === stated
      ? []
      : [
          `input size ${inputSize?.join("x")} from the ${w}x${h} map at stride ${stride}; the option inputSize settles it`,
        ];
  return buildInterpretation<AnchorPart>(query, {
    name: "anchor-grid",
    title: "anchor grids",
    usual: (areInside ? traits.scoresInCells : undefined) ?? traits.raw,
    fields: anchorFields(query, inCells ? null : inputSize),
    matches,
    parts: matches.flatMap((map, rank) => partsOf(query, map, rank)),
    notes: [...mixed, ...inferred, ...strangeAnchors(query, matches, inCells ? null : inputSize)],
    inputSize,
  });
}

/** Returns a part for each anchor of a map. `rank` is the index of the map, largest first. */
function partsOf({ scaleXY, traits }: CountedQuery, map: FittedMap, rank: number): AnchorPart[] {
  const usual = traits.squareSize ? 2 : 1;
  const xyScale = typeof scaleXY === "object" && scaleXY !== null ? scaleXY[rank] : (scaleXY ?? usual);
  return map.anchors.map((size, index) => {
    const at = (column: Column): Column => move(column, index * map.step);
    return {
      ...map,
      anchor: { index, size, unit: traits.anchorUnit ?? "px" },
      box: at(map.box),
      score: at(map.score),
      objectness: at(map.objectness as Column),
      xyScale,
    };
  });
}

/**
 * Returns the fields that an anchor adds to a head. `size` is the input size for anchors in pixels, `null` for anchors
 * in cells.
 */
const anchorFields =
  (query: CountedQuery, size: readonly [number, number] | null): HeadFields<AnchorPart> =>
  (part, logits) => {
    const { anchor, alone, score, view, xyScale } = part;
    const isRaw = logits || hasAnchorsInside(part);
    const { traits, classes } = query;
    const [width, height] = size ?? cellsAcross(query, view);
    const soft = traits.softmax && logits;
    return {
      ...(alone
        ? { rule: "objectness", ...(soft ? { scoreFn: "none" } : {}) }
        : softmax(soft, score.offset, classes)),
      xyFn: isRaw ? "sigmoid" : "none",
      xyScale,
      xyBias: -(xyScale - 1) / 2,
      whFn: !traits.squareSize ? "exp" : isRaw ? "squareSigmoid" : "square",
      size: [anchor.size[0] / width, anchor.size[1] / height],
    };
  };

/** The two smallest anchors of YOLOv5 and YOLOv3, of YOLOv3-tiny, of YOLOv4 and YOLOv7, and of Yolo-Fastest 1.1. */
const PUBLISHED = ["10,13,16,30", "10,14,23,27", "12,16,19,36", "12,18,37,49"];

/** True if the smallest anchors match those of a published network only with width and height swapped. */
function isSwapped(matches: readonly FittedMap[]): boolean {
  const all = matches.flatMap(({ anchors }) => anchors).sort(([a, b], [c, d]) => a * b - c * d);
  return PUBLISHED.includes(
    all
      .slice(0, 2)
      .map(([w, h]) => [h, w])
      .join(),
  );
}

/** Returns notes about anchors in an unlikely unit or order. `size`: input size in pixels; `null`: anchors in cells. */
function strangeAnchors(
  { family }: CountedQuery,
  matches: readonly FittedMap[],
  size: readonly [number, number] | null,
): string[] {
  const sides = matches.map(({ anchors }) => anchors.map(([w, h]) => Math.max(w, h)));
  const largest = Math.max(...sides.flat());
  const { w, h } = matches[matches.length - 1].view;
  if (size === null)
    return largest > 2 * Math.max(w, h)
      ? [
          `anchors of up to ${largest} cells on a ${w}x${h} map: are they in pixels? ${family} has them in cells`,
        ]
      : [];
  const cell = size[0] / w;
  if (largest < cell / 2)
    return [
      `no anchor is larger than ${largest} pixels beside cells of ${cell}: are they in cells, or 0..1?`,
    ];
  if (isSwapped(matches))
    return [`the anchors are published ones with width and height swapped: is their order w, h?`];
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
  return mean(sides[0]) > mean(sides[sides.length - 1])
    ? ["the largest map has the largest anchors: is their order that of the maps, the largest map first?"]
    : [];
}
