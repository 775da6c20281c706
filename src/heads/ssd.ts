/** Readings of SSD and its kin: score columns with a background among them, prior boxes, and boxes and scores as they are. */
import type { Config } from "../config/types.ts";
import { refuse } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { BOX_NAME, mayPlay, pairs, type TensorMatch, preferred, matchOne } from "./match.ts";
import { familyOf, namesOf, outputsOf, type HeadQuery } from "./query.ts";
import {
  columnOf,
  type Head,
  type More,
  plain,
  type ReadShapes,
  buildInterpretation,
  type Interpretation,
  type ReadingName,
  softmax,
  without,
  yFirst,
} from "./head.ts";
import { type TensorSpec, volume } from "../core/tensor.ts";
import { beside, rows, rowsOrFlat } from "./channels.ts";

/** Boxes the network decoded, with scores [N], [N,C] and perhaps labels [N]. */
export const boxesScores: ReadShapes = (q, specs) => {
  const at = q.roles?.labels ? specs.findIndex((s) => mayPlay(q, "labels", s.name)) : -1;
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
      plain(q, format, usual, () => (at < 0 ? {} : { classId: columnOf(at) })),
      pairs(q, without(specs, at), rows, 4, k),
      at,
    ),
  );
};

/** Number of the class that means "nothing here", `false` for none. */
const backgroundOf = (q: HeadQuery): number | false =>
  q.background ?? (q.family === "blazeface" || q.family === "boxes" ? false : 0);

/** "classes" may count the background (labels of a mobilenet config do) or leave it out. */
const scoreWidths = (q: HeadQuery): number[] =>
  q.background === false || q.family === "blazeface" ? [q.classes] : [q.classes, q.classes + 1];

/** Readings whose scores have `k` columns, the background perhaps among them. `extra`: a tensor that they use besides, or -1. */
function scored(
  q: HeadQuery,
  name: ReadingName,
  what: string,
  k: number,
  more: More,
  places: readonly TensorMatch[],
  extra: number,
  notes: readonly string[] = [],
): Interpretation[] {
  const nothing = k === 1 ? false : backgroundOf(q);
  if (nothing && nothing !== k - 1 && places.length > 0)
    refuse("background", `class column ${nothing} of ${k}`, `0, ${k - 1} or false`);
  const first = nothing === 0 ? 1 : 0;
  const classes = nothing === false ? k : k - 1;
  // a convention may leave the background out of the numbers
  const shift = q.countBackground ? 0 : first;
  const { raw, softmax: soft } = q.traits;
  return places.map((p) =>
    buildInterpretation(
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
export const priorRows: ReadShapes = (q, specs) => {
  const face = q.family === "blazeface";
  const at = priorsAmong(specs, q);
  const rest = without(specs, at);
  const table = at < 0 ? q.priors : q.valuesOf(at);
  if (!table) return [];
  const boxCells = matchOne(rest, rowsOrFlat, 4).map((p) => p.view.cells);
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
export const offsetsOrBoxes: ReadShapes = (q, specs) => {
  const decoded = q.boxFormat === "xyxy";
  return [
    ...(decoded ? [] : priorRows(q, specs)),
    ...(decoded || (!q.variances && q.priors === null) ? boxesScores(q, specs) : []),
  ];
};

/**
 * Index of the output that holds the prior boxes, or -1: by its role, or else by its name. Boxes and scores may be called after the anchors
 * too: a table is beside both, plays no other part, and has four or eight numbers for each box, or as many boxes of a batch as it is long.
 */
export function priorsAmong(specs: readonly TensorSpec[], { roles }: Pick<Config, "roles">): number {
  if (roles?.priors !== undefined) return specs.findIndex((s) => s.name === roles.priors);
  const named = namesOf(roles);
  const may = specs.filter((s) => {
    const others = specs.filter((o) => o !== s && volume(o.dims) > 0).map((o) => volume(o.dims) * 2);
    return (
      PRIOR_NAME.test(s.name) &&
      !named.includes(s.name) &&
      others.length > 1 &&
      others.some((n) => n % volume(s.dims) === 0)
    );
  });
  return specs.indexOf(preferred(may, (s) => !BOX_NAME.test(s.name) || /prior/i.test(s.name))[0]);
}

/** Whether an output holds the prior boxes: then no plan is made before its values are here. */
export function priorsToCome(config: Config, given: readonly TensorSpec[]): boolean {
  const specs = outputsOf(config, given);
  return TRAITS[familyOf(config, specs).family].head === "prior" && priorsAmong(specs, config) >= 0;
}

const PRIOR_NAME = /prior|anchor/i;

type Four = Head["variances"];

/** A table of priors as cx cy w h normalised, and the factors that go with it. `null`: no table of that length. */
function priorBox(
  q: HeadQuery,
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
  // centres and corners lie in the image, sides are a little longer at most
  const most = priors.reduce((m, x) => Math.max(m, Math.abs(x)), 0);
  if (most > 8)
    refuse("priors", `numbers up to ${Number(most.toPrecision(4))}`, "0..1 of the input, not pixels");
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
