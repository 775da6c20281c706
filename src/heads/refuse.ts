/** Errors about tensors that have no interpretation, or several. */
import { areCoco, COCO_CLASSES, COCO_LAST } from "../core/coco.ts";
import { asOptions, type Hint, refuseFor, TensorError } from "../core/errors.ts";
import { representativeOf, suggestedFamilies, TRAITS } from "../core/families.ts";
import type { FamilyReason } from "../core/family-names.ts";
import type { Family } from "../core/family.ts";
import { READINGS } from "../core/readings.ts";
import { list, type TensorSpec } from "../core/tensor.ts";
import { exchangedAxes } from "./axes.ts";
import { classCounts, EXPORTS, finds, isCounted, MOST_CLASSES, shapesOfExport } from "./exports.ts";
import { gridsOfRows, SIDES } from "../shapes/grids.ts";
import { channelsBesideClasses, FINISHED_CHANNELS } from "../shapes/ways.ts";
import type { Interpretation, Specs } from "./head.ts";
import { readAll } from "./interpret.ts";
import { familyReason } from "./print.ts";
import { type HeadQuery, namesOf } from "./query.ts";

/** Throws a TensorError that lists all interpretations, and the option that decides between them. */
export function refuseSeveral(interpretations: readonly Interpretation[], specs: Specs): never {
  const lines = interpretations.map(({ about, name }) => `  - ${about}   (reading: "${name}")\n`);
  const { words, hints } = settlingOptions(interpretations, specs);
  throw new TensorError(
    `got ${list(specs)}, which can be read in ${interpretations.length} ways:\n${lines.join("")}${words}`,
    { options: asOptions(hints) },
  );
}

/** Returns the options that decide between several interpretations. */
export function settlingOptions(
  interpretations: readonly Interpretation[],
  [first]: Specs,
): { words: string; hints: readonly Hint[] } {
  if (interpretations.every(({ awaits }) => awaits !== undefined))
    return {
      words:
        'the unit of its distances settles it: coordinates: "pixels" (mmdetection, mmdeploy) or "strides" ' +
        "(mmyolo). A frame whose values tell does so too",
      hints: [{ option: "coordinates", value: "pixels" }],
    };
  const count = (key: (r: Interpretation) => string): number => new Set(interpretations.map(key)).size;
  const layouts = new Set(
    interpretations.flatMap(({ tensors }) => tensors.flat().map(({ layout }) => layout)),
  );
  if (count(({ name }) => name) > 1)
    return {
      words: `the option reading settles it, for instance reading: "${interpretations[0].name}"`,
      hints: [{ option: "reading", value: interpretations[0].name }],
    };
  if (layouts.size > 1 && count(({ uses }) => uses.join()) === 1) {
    const byClasses = count(({ classes }) => String(classes)) > 1;
    return {
      words:
        `the tensor's order settles it: outputs: [{name: "${first.name}", dims, order: "rows" or ` +
        '"planes", "NCHW" or "NHWC"}], or order beside data and ' +
        `dims${byClasses ? "; the number of classes settles it too (option classes, or labels)" : ""}`,
      hints: ["outputs", ...(byClasses ? (["classes", "labels"] as const) : [])],
    };
  }
  const maps = count(({ name, uses }) => (READINGS[name].maps ? [...uses].sort().join() : ""));
  return {
    words:
      maps > 1
        ? 'roles settles it: {boxes: ["name", ...]}, and scores where they stand apart'
        : 'roles settles it: {boxes: "name", scores: "name"}',
    hints: ["roles"],
  };
}

/** Throws a TensorError that describes the family's tensors, and the options with which the given tensors would fit. */
export function refuseAll(query: HeadQuery, why: FamilyReason, specs: readonly TensorSpec[]): never {
  const { classes, reading, family } = query;
  const batches = new Set(specs.filter(({ dims }) => dims.length > 2).map(({ dims }) => dims[0]));
  const isMixed = batches.size > 1;
  const ofClasses = classes === null ? "" : ` of ${classes} ${classes === 1 ? "class" : "classes"}`;
  const asReading = reading === null ? "" : ` and reading "${reading}"`;
  const lost = namesOf(query.roles).filter((n) => !specs.some(({ name }) => name === n));
  const side = isMixed ? null : otherSide(query, specs);
  const turned = isMixed || side !== null ? null : exchangedAxes(query, specs);
  const fits = isMixed || side !== null || turned !== null ? null : otherFamily(query, specs);
  const usual = classes === null ? ` with classes: ${USUAL_CLASSES}` : "";
  const { words, hints } = expectedShapes(query);
  refuseFor(
    [
      ...(turned === null ? [] : ["outputs" as const]),
      ...(side === null ? hints : [{ option: "inputSize", value: `${side}x${side}` } as const]),
      ...(fits === null ? [] : [{ option: "family", value: fits } as const]),
    ],
    "",
    list(specs),
    [
      `for ${family} (${familyReason(why)})${ofClasses}${asReading}: ${words}`,
      ...(isMixed ? ["all with the same batch, the first dimension"] : []),
      ...(lost.length > 0 ? [`roles name ${lost.join(", ")}, which is none of these`] : []),
      ...(side === null ? [] : [`inputSize: [${side}, ${side}] would read these`]),
      ...(fits === null ? [] : [`family "${fits}"${usual} would read these`]),
      ...(turned === null
        ? [
            ...adviceOnExtraChannels(query, specs),
            ...(isMixed ? [] : [...adviceOnCoco(query, specs), ...likelyClasses(query, specs)]),
          ]
        : [turned]),
    ].join("; "),
  );
}

/** Returns the shapes of the family's exports, and the options on which they depend. */
function expectedShapes(query: HeadQuery): { words: string; hints: readonly Hint[] } {
  if (!isCounted(query) && query.traits.classes === undefined)
    return {
      words: "the number of classes (option classes, or labels)",
      hints: ["classes", "labels"],
    };
  const shapes = query.traits.exports.flatMap((name) => shapesOfExport(query, name));
  return {
    words: `${shapes.join("; ")}, channels first or last`,
    hints: query.traits.exports.flatMap((name) => EXPORTS[name].asks?.(query) ?? []),
  };
}

/** True if a query would read the tensors. */
const wouldRead = (query: HeadQuery, specs: Specs): boolean => finds(() => readAll(query, specs));

/** Returns the side of the square input for which the family would read the tensors, or `null`. */
const otherSide = (query: HeadQuery, specs: Specs): number | null =>
  SIDES.find((side) => wouldRead({ ...query, inputSize: [side, side] }, specs)) ?? null;

/** Class count of COCO. Tried if the config states none. */
const USUAL_CLASSES = 80;

/** Returns another family that would read the tensors. Some names mislead: YOLOv5u has YOLOv8's head. */
function otherFamily(stated: HeadQuery, specs: Specs): Family | null {
  const query = { ...stated, classes: stated.classes ?? USUAL_CLASSES };
  const has = (n: number): boolean => specs.some(({ dims }) => dims.slice(1).includes(n));
  const fits = (family: Family): boolean => {
    const traits = TRAITS[family];
    return (
      representativeOf(family) !== representativeOf(query.family) &&
      // Without a stated class count, require a dimension for COCO's 80 classes.
      (stated.classes !== null || has(channelsBesideClasses(traits) + USUAL_CLASSES)) &&
      // Networks with anchors have several rows per cell.
      !(traits.head === "anchor" && specs.some(({ dims }) => isRowPerCell(query, dims))) &&
      wouldRead({ ...query, family, traits }, specs)
    );
  };
  if (stated.classes === null && wouldRead(query, specs)) return null;
  return suggestedFamilies().find(fits) ?? null;
}

/** True if the tensor has one row per cell of the input. */
const isRowPerCell = (query: HeadQuery, dims: readonly number[]): boolean =>
  dims.length === 3 && gridsOfRows(query, Math.max(dims[1], dims[2])) !== null;

/** Smallest count of channels after the stated classes that is taken for mask coefficients. */
const FEWEST_COEFFICIENTS = 32;

/** Largest row count of a finished list. Exporters usually keep 300 rows. */
const MOST_FINISHED_ROWS = 1000;

/** Channel count of boxes and stated classes, and count of the channels after them. */
interface SplitChannels {
  readonly known: number;
  readonly extra: number;
  /** True if the rows are a finished list. */
  readonly isFinished: boolean;
}

/** Splits the channels of rows or planes into boxes, the stated classes, and the rest. Returns `null` for maps. */
export function splitChannels(
  { traits, inputSize, strides }: HeadQuery,
  { dims }: Pick<TensorSpec, "dims">,
  classes: number,
): SplitChannels | null {
  if (dims.length !== 3) return null;
  const [channels, rows] = dims.slice(1).sort((a, b) => a - b);
  // A small input has so few cells that their rows would look like a finished list.
  const isCells = inputSize !== null && gridsOfRows({ inputSize, strides }, rows) !== null;
  const isFinished = !isCells && rows <= MOST_FINISHED_ROWS && traits.exports.includes("end-to-end");
  const known = isFinished ? FINISHED_CHANNELS : channelsBesideClasses(traits) + classes;
  return { known, extra: channels - known, isFinished };
}

/** Returns the split of the first tensor that may have channels of a task after the classes, or `null`. */
function extraChannels(query: HeadQuery, specs: Specs): SplitChannels | null {
  const { classes, traits } = query;
  if (classes === null || (traits.head !== "distance" && traits.head !== "anchor")) return null;
  const all = specs.flatMap((spec) => splitChannels(query, spec, classes) ?? []);
  // One channel may be an angle, 32 or more mask coefficients, and a multiple of three keypoints.
  const mayBeTask = ({ extra }: SplitChannels): boolean =>
    extra === 1 || extra >= FEWEST_COEFFICIENTS || (extra > 0 && extra % 3 === 0);
  return all.find(mayBeTask) ?? null;
}

/** Returns advice if channels after the classes suggest a task: an angle, keypoints or masks. */
function adviceOnExtraChannels(query: HeadQuery, specs: Specs): string[] {
  const channels = extraChannels(query, specs);
  if (channels === null) return [];
  const { known, extra } = channels;
  if (extra === 1)
    return [`if the last channel is an angle, say task: "oriented"; else give the first ${known} alone`];
  const values = [3, 2].find((n) => extra % n === 0);
  const tasks = [
    ...(values ? [`keypoints, say task: "pose", keypoints: [${extra / values}, ${values}]`] : []),
    ...(extra < FEWEST_COEFFICIENTS ? [] : ['coefficients of masks, say task: "segment"']),
  ];
  return [`if the last ${extra} channels are ${tasks.join("; if ")}; else give the first ${known} alone`];
}

/** Returns advice if the labels are COCO's 80 names but the tensors have a column for each COCO id (up to 90). */
function adviceOnCoco(query: HeadQuery, specs: Specs): string[] {
  if (!areCoco(query.labels, COCO_CLASSES)) return [];
  const reads = (classes: number): boolean => wouldRead({ ...query, classes, labels: null }, specs);
  if (reads(COCO_LAST + 1)) return ['labels: "coco91" names these: COCO\'s own ids, 0..90'];
  return reads(COCO_LAST) ? ['labels: labelsOf("coco91").slice(1) names these: COCO\'s own ids, 1..90'] : [];
}

/** Largest number of alternatives for the class count that an error suggests. More would not help. */
const MOST_GUESSES = 3;

/** Returns advice about the class counts with which the tensors would fit. Empty if there are none or too many. */
function likelyClasses(query: HeadQuery, specs: Specs): string[] {
  const channels = extraChannels(query, specs);
  if (channels !== null && channels.extra >= FEWEST_COEFFICIENTS) return [];
  const fitting = classCounts(
    query.traits,
    specs.flatMap(({ dims }) => dims),
    MOST_CLASSES,
  ).filter((classes) => classes !== query.classes && wouldRead({ ...query, classes }, specs));
  return fitting.length === 0 || fitting.length > MOST_GUESSES
    ? []
    : [`these shapes would be of ${fitting.join(" or ")} classes`];
}
