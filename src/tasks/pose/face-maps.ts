/**
 * Reads face networks that output maps of boxes, scores and points for each level, with two anchors per cell. These are
 * SCRFD and RetinaFace for accelerators, without the layers that convert maps to rows.
 */
import { POINT_FACTS } from "../../core/pose-families.ts";
import type { PointShape } from "../../core/keypoints.ts";
import { buildInterpretation, softmax } from "../../heads/build.ts";
import { beside, type Column, maps } from "../../heads/channels.ts";
import { columnOf, matchOfViews, type TensorView } from "../../heads/extra.ts";
import type { HeadDraft, Interpretation, Specs } from "../../heads/head.ts";
import type { TensorMatch } from "../../heads/match.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { type Grid, gridsOf } from "../../shapes/grids.ts";
import type { Formed } from "./form.ts";

/** Count of anchors per cell. */
const ANCHORS = 2;

/** One anchor of a map, with the channels of its points. */
interface Part extends TensorMatch {
  readonly points: Column;
  /** Index of the anchor within its cell. */
  readonly place: number;
  /** Index of the level's first prior. */
  readonly first: number;
}

/** The maps of one level. */
interface Level {
  readonly match: TensorMatch;
  readonly points: Column;
}

/** Returns the maps of a level in one storage order. Returns `null` if a map is missing, or if several fit. */
function levelOf(specs: Specs, grid: Grid, counts: readonly number[], isLast: boolean): Level | null {
  const found = counts.map((count) =>
    specs.flatMap((spec, index): TensorView[] =>
      maps(spec, count * ANCHORS)
        .filter(({ w, h, channel }) => w === grid.w && h === grid.h && (channel === 1) === isLast)
        .map((view) => ({ ...view, index, spec })),
    ),
  );
  if (found.some((views) => views.length !== 1)) return null;
  const [boxes, scores, points] = found.map(([view]) => view);
  return { match: matchOfViews(boxes, [scores]), points: columnOf(points) };
}

/** Returns the interpretations of the maps, with a head for each anchor of a level. Empty if a level lacks a map. */
function readMaps(
  query: HeadQuery,
  specs: Specs,
  scores: number,
  reading: Pick<Parameters<typeof buildInterpretation<Part>>[1], "name" | "title" | "usual" | "fields">,
): Interpretation[] {
  const counts = [4, scores, POINTS];
  const grids = gridsOf(query, [8, 16, 32]);
  const orders = [true, false].map((isLast) => grids.map((grid) => levelOf(specs, grid, counts, isLast)));
  return orders.flatMap((some): Interpretation[] => {
    const levels = some.filter((level) => level !== null);
    if (levels.length === 0 || levels.length < grids.length) return [];
    let first = 0;
    const parts = levels.flatMap(({ match, points }) => {
      const start = first;
      first += match.view.cells * ANCHORS;
      return Array.from({ length: ANCHORS }, (_, place): Part => ({
        ...match,
        box: beside(match.box, 4 * place),
        score: beside(match.score, scores * place),
        points: beside(points, POINTS * place),
        place,
        first: start,
      }));
    });
    return [
      buildInterpretation<Part>(
        { ...query, classes: query.classes ?? 1 },
        {
          ...reading,
          matches: levels.map(({ match }) => match),
          parts,
          alsoUses: levels.map(({ points }) => points.tensor),
        },
      ),
    ];
  });
}

const POINTS = 10;

/** Reads SCRFD's maps. Distances and points are measured from the upper left corner of the cell. */
export const scrfdMaps = (query: HeadQuery, specs: Specs, shape: PointShape): Formed[] =>
  readMaps(query, specs, 1, {
    name: "anchor-grid",
    title: "maps of distances from the cell's left upper corner, points",
    usual: "probabilities",
    fields: ({ points }) => ({ kind: "distance", rule: "class", extra: points }),
  }).map((interpretation) => ({ interpretation, shape, rule: "grid", logits: false }));

/** Reads RetinaFace's maps of offsets from priors, with a pair of logits for each prior: background and face. */
export function retinafaceMaps(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  const { inputSize, traits, family } = query;
  if (!inputSize || !traits.buildPriors) return [];
  const priors = traits.buildPriors(inputSize);
  const variances = query.variances ?? POINT_FACTS[family]?.variances ?? [1, 1, 1, 1];
  return readMaps(query, specs, 2, {
    name: "prior-maps",
    title: "maps of offsets from priors, background and face, points",
    usual: "logits",
    fields: ({ view, score, points, place, first }, logits): Partial<HeadDraft> => ({
      kind: "prior",
      rule: "class",
      whFn: "exp",
      unit: [1, 1],
      score: beside(score, 1),
      priors: Float32Array.from(
        { length: view.cells * 4 },
        (_, i) => priors[(first + (i >> 2) * ANCHORS + place) * 4 + (i & 3)],
      ),
      variances,
      extra: points,
      ...softmax(logits, score.offset, 2),
    }),
  }).map((interpretation) => ({ interpretation, shape, rule: "prior", logits: false }));
}
