/** Reads undecoded boxes without anchors: feature maps, and rows with the cells of such maps. */
import type { ScoreForm } from "../core/family.ts";
import { buildInterpretation, type Reading, unitOf } from "./build.ts";
import { maps, none, rows } from "./channels.ts";
import { type DistanceUnit, unitByValues } from "./distance-unit.ts";
import { cellsAcross } from "../shapes/grids.ts";
import { BOX_OBJECTNESS_CLASSES, distanceParts, OBJECTNESS_BOX_CLASSES } from "../shapes/ways.ts";
import type { Interpretation, Specs } from "./head.ts";
import {
  asMaps,
  byLayout,
  disjoint,
  join,
  levels,
  matchParts,
  mayPlay,
  pairs,
  playersOf,
  preferOneOrder,
  slices,
  type TensorMatch,
} from "./match.ts";
import type { CountedQuery } from "./query.ts";

/** Returns the tensors that may hold a whole head: those that `roles.boxes` names, or all if it names none of them. */
const wholeHeads = (query: CountedQuery, specs: Specs): Specs =>
  specs.some(({ name }) => mayPlay(query, "boxes", name)) ? playersOf(query, specs, "boxes") : specs;

/** Reads maps of YOLOX and YOLOv6 r1: [N,5+C,h,w], or three maps of 4, 1 and C channels. */
export function pointMaps(query: CountedQuery, specs: Specs): Interpretation[] {
  const { classes } = query;
  const split = join(query, specs, pairs(query, specs, maps, 4, classes), "objectness", maps, 1);
  const whole = matchParts(query, wholeHeads(query, specs), maps, BOX_OBJECTNESS_CLASSES);
  return [...levels(specs, whole), ...disjoint(split)].map((matches) =>
    buildInterpretation(query, {
      name: "point-grid",
      title: "point grids",
      usual: query.traits.raw,
      fields: (match) => ({ whFn: "exp", size: unitOf(query, match) }),
      matches,
    }),
  );
}

/** Title of rows read as undecoded boxes, with the option for decoded boxes, whose values a later check refuses. */
const UNDECODED = 'undecoded boxes (boxFormat: "cxcywh" says that they are decoded), objectness, classes';

/** Reads the undecoded rows of YOLOX and YOLOv6 r1: the cells of all maps, map after map. */
export function pointRows(query: CountedQuery, specs: Specs): Interpretation[] {
  return matchParts(query, specs, rows, BOX_OBJECTNESS_CLASSES).flatMap((match) =>
    slices(query, match).map((parts) =>
      buildInterpretation(query, {
        name: "point-rows",
        // Give no advice about `boxFormat` if the config states the reading.
        title: query.reading === null ? UNDECODED : "undecoded boxes, objectness, classes",
        usual: query.traits.raw,
        fields: (part) => ({ whFn: "exp", size: unitOf(query, part) }),
        matches: [match],
        parts,
      }),
    ),
  );
}

/** Usual bin counts of a distance: 0 (plain number), 16 in YOLOv8, 8 in NanoDet, 17 in PP-YOLOE, 32 in wider heads. */
const BINS = [0, 16, 8, 17, 32];

/**
 * Reads maps of distances (left, top, right, bottom), as numbers or as distributions. Forms: maps [N,5+C,h,w] with a
 * confidence that only gates; maps [N,4*bins+C,h,w]; boxes and classes in separate maps or rows; the cells of all maps
 * in one tensor of rows.
 */
export function distanceMaps(query: CountedQuery, specs: Specs): Interpretation[] {
  const { classes, traits } = query;
  const { raw } = traits;
  // Take scores beside plain distances as probabilities: exporters that decode distributions also apply the sigmoid.
  const exported = matchParts(query, wholeHeads(query, specs), maps, BOX_OBJECTNESS_CLASSES);
  return [
    ...levels(specs, exported).flatMap((matches) => distances(query, 0, "probabilities", matches)),
    ...BINS.flatMap((bins) => {
      const box = 4 * (bins || 1);
      const parts = distanceParts(traits, bins);
      // Read rows only as distributions: four plain numbers in a row are a decoded box.
      const inRows = bins ? rows : none;
      const split = (matched: readonly TensorMatch[]): Interpretation[] =>
        byLayout(matched).flatMap((mates) =>
          disjoint(mates).flatMap((matches) => distances(query, bins, raw, matches)),
        );
      const pairsInRows = preferOneOrder(pairs(query, specs, inRows, box, classes));
      return [
        ...levels(specs, matchParts(query, wholeHeads(query, specs), maps, parts)).flatMap((matches) =>
          distances(query, bins, bins ? raw : "probabilities", matches),
        ),
        ...split(pairs(query, specs, maps, box, classes)),
        ...split(asMaps(query, pairsInRows)),
        ...pairsInRows.flatMap((match) =>
          slices(query, match)
            .filter((cut) => cut.length > 1)
            .flatMap((cut) => distances(query, bins, raw, [match], cut)),
        ),
        ...matchParts(query, specs, inRows, parts).flatMap((match) =>
          slices(query, match).flatMap((cut) => distances(query, bins, raw, [match], cut)),
        ),
      ];
    }),
  ];
}

/** Returns the interpretation of maps of distances, or one per unit (pixels, strides) if the unit is unknown. */
function distances(
  query: CountedQuery,
  bins: number,
  usual: ScoreForm,
  matches: readonly TensorMatch[],
  parts: readonly TensorMatch[] = matches,
): Interpretation[] {
  const { corner, mayBePixels } = query.traits;
  const fromCorner = corner === true || parts.length === corner;
  const title = [
    bins ? `distance distributions of ${bins} bins` : "left-top-right-bottom distances",
    ...(fromCorner ? ["from the cell's left upper corner"] : []),
  ].join(" ");
  const read = (unit: DistanceUnit, told: Partial<Reading>): Interpretation =>
    buildInterpretation(query, {
      name: bins ? "dfl-grid" : "distance-grid",
      title: mayBePixels ? `${title}, in ${unit}` : title,
      usual,
      fields: (part) => ({
        kind: "distance",
        rule: "class",
        bins,
        xyBias: fromCorner ? 0 : 0.5,
        ...(unit === "pixels" && {
          xyScale: 1 / strideOf(query, part),
          // Strides in pixels are unknown without an input size.
          ...(query.inputSize === null && { unit: null }),
        }),
      }),
      matches,
      parts,
      ...told,
    });
  if (!mayBePixels) return [read("strides", {})];
  const coordinates = query.coordinates;
  if (coordinates === "pixels" || coordinates === "strides") return [read(coordinates, {})];
  const found = unitByValues(
    query,
    parts.map((part) => ({ box: part.box, stride: strideOf(query, part) })),
  );
  if (found === null) {
    const awaits = parts[0]?.box.tensor;
    return (["pixels", "strides"] as const).map((each) => read(each, { awaits }));
  }
  const { unit, isCertain } = found;
  const other = unit === "pixels" ? "strides" : "pixels";
  const note = `distances taken as ${unit}, as the values of this frame are; coordinates: "${unit}" or "${other}" settles it`;
  return [read(unit, { notes: isCertain ? [] : [note] })];
}

/** Returns the stride of a map in pixels. Without an input size, returns 16, the usual middle stride. */
function strideOf(query: CountedQuery, part: TensorMatch): number {
  const [across] = cellsAcross(query, part.view);
  return query.inputSize ? query.inputSize[0] / across : 16;
}

/** Reads FastestDet's maps [N,5+C,h,w]: objectness, tx ty tw th, classes. The network has activated the scores. */
export function cellMaps(query: CountedQuery, specs: Specs): Interpretation[] {
  return levels(specs, matchParts(query, wholeHeads(query, specs), maps, OBJECTNESS_BOX_CLASSES)).map(
    (matches) =>
      buildInterpretation(query, {
        name: "anchor-grid",
        title: "FastestDet map",
        usual: query.traits.raw,
        fields: () => ({ xyFn: "tanh", whFn: "sigmoid" }),
        matches,
      }),
  );
}
