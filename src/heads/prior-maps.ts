/** Reads raw EfficientDet: for each level one map of offsets and one of scores, with several priors in each cell. */
import { buildInterpretation, yFirst } from "./build.ts";
import { beside, maps, move } from "./channels.ts";
import type { Interpretation, Specs } from "./head.ts";
import { byLayout, disjoint, pairs, type TensorMatch } from "./match.ts";
import type { CountedQuery } from "./query.ts";
import { readPriors } from "./ssd.ts";

/** Largest number of priors that a cell may have. */
const MAX_PRIORS = 16;

/** A whole map, or one prior of each cell of a map, with the priors. */
interface PriorPart extends TensorMatch {
  readonly priors: Float32Array;
}

/** Reads maps [1,h,w,A x C] + [1,h,w,A x 4], or channels first. The channels of a prior follow one another. */
export function priorMaps(query: CountedQuery, specs: Specs): Interpretation[] {
  const { classes, priors: table } = query;
  if (table === null) return [];
  return Array.from({ length: MAX_PRIORS }, (_, n) => n + 1).flatMap((count) =>
    byLayout(pairs(query, specs, maps, 4 * count, classes * count)).flatMap((mates) =>
      disjoint(mates).flatMap((matches) => {
        const cells = matches.reduce((sum, { view }) => sum + view.cells * count, 0);
        const read = readPriors(query, table, cells);
        if (read === null) return [];
        let first = 0;
        const parts = matches.flatMap((match) => {
          const mapPriors = read.priors.slice(first * 4, (first + match.view.cells * count) * 4);
          first += match.view.cells * count;
          return partsOf(match, mapPriors, count, classes);
        });
        return buildInterpretation<PriorPart>(query, {
          name: "prior-maps",
          title: `maps of offsets and scores, ${count} priors in a cell`,
          usual: query.traits.raw,
          fields: (part) => ({
            kind: "prior",
            whFn: "exp",
            priors: part.priors,
            variances: read.variances,
            ...yFirst(query.boxFormat, part),
          }),
          matches,
          parts,
          notes: read.notes,
        });
      }),
    ),
  );
}

/** Returns the heads of a map: one with a row per prior if channels are last, else one per prior of a cell. */
function partsOf(match: TensorMatch, priors: Float32Array, count: number, classes: number): PriorPart[] {
  const { view, box, score } = match;
  const { cells } = view;
  if (view.channel === 1)
    return [
      {
        ...match,
        view: { ...view, cells: cells * count, w: 0, h: 0 },
        box: { ...box, cell: 4 },
        score: { ...score, cell: classes },
        priors,
      },
    ];
  return Array.from({ length: count }, (_, k) => ({
    ...match,
    view: { ...view, w: 0, h: 0 },
    box: beside(box, 4 * k),
    score: move(score, classes * k * score.channel),
    priors: Float32Array.from({ length: cells * 4 }, (_, i) => priors[((i >> 2) * count + k) * 4 + (i & 3)]),
  }));
}
