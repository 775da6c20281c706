/** Turns the proposals for shapes into readings for which a decoder can be made. */
import type { DecoderOptions } from "../config/types.ts";
import { asOptions } from "../core/errors.ts";
import { TRAITS, titleOf } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { READINGS } from "../core/readings.ts";
import { type TensorSpec, volume } from "../core/tensor.ts";
import type { Interpretation } from "../heads/head.ts";
import { preferred } from "../heads/match.ts";
import { settlingOptions } from "../heads/refuse.ts";
import { priorsAmong } from "../heads/ssd.ts";
import { valuesIn } from "../planfile/write.ts";
import { cellsOf, gridsOf, sizeOfRows } from "../shapes/grids.ts";
import { inputOfPriors } from "../shapes/counts.ts";
import type { Match } from "../shapes/solve.ts";
import { type Proposal, propose } from "../shapes/propose.ts";
import {
  type Inspected,
  interpretationsUnder,
  NO_SIZE,
  offsetVariances,
  type Possibility,
  statedClasses,
} from "./possibility.ts";

/** Largest number of proposals that are tried. */
const MOST = 6;

type OpenDims = Inspected["tensors"][number]["dims"];

/** The readings that shapes allow, the likeliest first. If there are none, `looksLike` names the kind of network. */
export interface Possibilities {
  readonly possibilities: readonly Possibility[];
  readonly looksLike: string | null;
}

/** Returns every likely reading of the shapes for which a decoder can be made. */
export function possibilitiesFor(inspected: Inspected): Possibilities {
  const { tensors, options, model, names } = inspected;
  const classes = statedClasses(options) ?? model?.names?.length ?? null;
  const { proposals, looksLike } = propose({
    tensors,
    options,
    inputs: (model?.inputs ?? []).map(({ name, dims }) => ({
      name,
      dims: dims?.map((d) => (typeof d === "number" ? d : null)) ?? null,
    })),
    inputSize: options.inputSize ?? null,
    names: [model?.description ?? "", ...(names ?? [])],
    known: { classes, keypoints: options.keypoints ?? model?.keypoints ?? null },
  });
  const possibilities = proposals.slice(0, MOST).flatMap((proposal) => follow(proposal, inspected) ?? []);
  return {
    possibilities,
    looksLike: possibilities.length > 0 ? null : (looksLike ?? "a network that no family reads in this form"),
  };
}

/** Returns the reading of a proposal. Returns `null` if no decoder can be made of the proposal. */
function follow(proposal: Proposal, { tensors, options, valuesOf, model }: Inspected): Possibility | null {
  const { match, families, classes, points } = proposal;
  const inputSize = options.inputSize ?? sizeOf(proposal);
  const specs = [...specsOf(proposal, tensors, inputSize), ...prototypesOf(proposal, inputSize)];
  const table = specs[priorsAmong(specs, { roles: options.roles ?? null })] as TensorSpec | undefined;
  const needed = standIns(proposal, specs, table);
  const areTold = options.variances !== undefined || options.boxFormat !== undefined;
  const variances = areTold ? null : offsetVariances(proposal.options.family, model);
  const config = {
    ...proposal.options,
    ...(classes === null && needsCount(proposal) ? { classes: 80 } : {}),
    ...needed,
    ...(variances && { variances }),
  };
  const values = valuesIn(specs, valuesOf);
  const zeros = (i: number): ArrayLike<number> | null =>
    values(i) ?? (table && specs[i] === table ? new Float32Array(volume(table.dims)) : null);
  const allowed = interpretationsUnder(
    config,
    { ...options, family: proposal.options.family, inputSize },
    specs,
    zeros,
  );
  if (allowed.length === 0) return null;
  // Prefer an interpretation without the tensors that the proposal leaves unused, such as a lookalike of the boxes.
  const [first] = preferred(allowed, ({ uses }) => !uses.some((i) => match.left.includes(i)));
  const read = [...first.uses, ...(first.task?.tensors ?? [])];
  const unread = specs.filter((_, i) => !read.includes(i)).map(({ name }) => name);
  const ofName = allowed.filter(({ name }) => name === first.name);
  const needsReading = ofName.length < allowed.length && proposal.options.reading === undefined;
  return {
    options: {
      ...proposal.options,
      ...(options.inputSize && { inputSize: options.inputSize }),
      ...(variances && { variances }),
      ...(needsReading && { reading: first.name }),
    },
    missing: missingOf(proposal, ofName, specs, table, options),
    families: [families.map(titleOf).join(", ")],
    classes,
    reading: first.name,
    about:
      first.task && first.task.about !== first.about ? `${first.about}, ${first.task.about}` : first.about,
    likelihood: points,
    likelySize: inputSize,
    ...(unread.length > 0 && { unread }),
  };
}

/** Returns the tensors, with placeholders for open dims and missing scales. */
function specsOf(
  proposal: Proposal,
  tensors: Inspected["tensors"],
  inputSize: readonly [number, number],
): readonly TensorSpec[] {
  const { match } = proposal;
  const bare = ["count", "classIds"].flatMap((part) => match.views[part]?.map(({ tensor }) => tensor) ?? []);
  return tensors.map((tensor, i) => ({
    ...tensor,
    dims: closed(i, tensor.dims, proposal, inputSize),
    scale: tensor.scale ?? (bare.includes(i) ? null : STAND_IN),
  }));
}

/** Returns placeholder prototypes if the proposal has mask coefficients but no prototypes. Else returns none. */
const prototypesOf = (
  { match: { form } }: Proposal,
  [width, height]: readonly [number, number],
): TensorSpec[] =>
  form.kind === "masks alone"
    ? [
        {
          name: PROTOTYPES,
          dims: [1, 32, height / 4, width / 4],
          type: "f32",
          scale: 1,
          zeroPoint: 0,
          order: null,
        },
      ]
    : [];

/** Name of the placeholder for mask prototypes. */
const PROTOTYPES = "prototypes";

/** Placeholder for the missing scale of integers. With 1/256, bytes span 0..1. */
const STAND_IN = 1 / 256;

/** True if the family needs the class count even if a column holds class ids. */
const needsCount = ({ options: { family } }: Proposal): boolean => TRAITS[family].classes === undefined;

/** Returns the options that the user must still write, as text. */
function missingOf(
  { anchors, options: { family, classes }, match: { form } }: Proposal,
  readings: readonly Interpretation[],
  specs: readonly TensorSpec[],
  table: TensorSpec | undefined,
  { inputSize }: DecoderOptions,
): string[] {
  const [{ name, awaits }] = readings;
  const needsPriors = READINGS[name].priors === true && !TRAITS[family].buildPriors;
  return [
    // HailoRT's buffer has one part per class, so a decoder needs the class count.
    ...(classes === undefined && TRAITS[family].packed ? ["classes"] : []),
    ...(inputSize ? [] : [NO_SIZE]),
    ...(anchors && READINGS[name].anchors ? [`anchors: ${anchors.join(" + ")} pairs`] : []),
    ...(form.kind === "masks alone" ? ["outputs: these and the prototypes of masks, [1,32,h,w]"] : []),
    ...(needsPriors && table === undefined ? ["priors"] : []),
    ...(needsPriors && !holdsVariances(table, specs) ? ["scales or variances"] : []),
    // With `awaits`, the values of the first frame decide between the readings, so no option is needed.
    ...(readings.length > 1 && awaits === undefined
      ? [asOptions(settlingOptions(readings, specs).hints)[0].option]
      : []),
  ];
}

/** Returns placeholders for options that a family needs. Only the count of an option's values matters for shapes. */
function standIns(
  { anchors, options: { family }, match }: Proposal,
  specs: readonly TensorSpec[],
  table: TensorSpec | undefined,
): Partial<DecoderOptions> {
  const { head, buildPriors } = TRAITS[family];
  if (head === "anchor")
    return anchors
      ? { anchors: anchors.map((count) => Array.from({ length: count }, () => [1, 1] as const)) }
      : {};
  if (head !== "prior" || buildPriors || holdsVariances(table, specs)) return {};
  return { scales: [10, 10, 5, 5], ...(table ? {} : { priors: new Float32Array(4 * (match.n ?? 0)) }) };
}

/** True if the priors are an output that also has variances, as many numbers again. */
const holdsVariances = (table: TensorSpec | undefined, specs: readonly TensorSpec[]): boolean =>
  table !== undefined && specs.some(({ dims }) => volume(dims) * 2 === volume(table.dims));

/** Returns the input size that the shapes show. Else returns the usual input size. */
function sizeOf({ match, options: { family } }: Proposal): readonly [number, number] {
  const { views, form, n } = match;
  const { prototypes, masks, maps, x, y, map, heat } = views;
  const times = ([view]: Match["views"][string], factor: number): readonly [number, number] => [
    factor * view.w,
    factor * view.h,
  ];
  if (prototypes && prototypes[0].w > 0) return times(prototypes, 4);
  if (masks && masks[0].w > MOST_BOX_CELLS) return times(masks, 1);
  if (heat) return times(heat, 4);
  if (maps) return times(maps, 4);
  if (map && map[0].w > 0) return times(map, 1);
  if (x && y) return [x[0].k / 2, y[0].k / 2];
  const levels = Object.entries(views).find(([part]) => form.parts[part].perLevel)?.[1];
  if (levels && levels[0].w > 0) return times(levels, strideOf(family, levels.length));
  // If no listed input fits, try any rectangle with two priors per cell, as in RetinaFace.
  if (TRAITS[family].buildPriors && n !== null && form.rows !== "list")
    return inputOfPriors(n, form) ?? sizeOfRows(n, form.perCell ?? 2) ?? USUAL;
  const rows = levels ? levels.reduce((sum, level) => sum + (level.n ?? 0), 0) : n;
  if (rows === null || form.rows === "list" || form.rows === "queries") return USUAL;
  const each = form.rows === "anchors" ? 3 : (form.perCell ?? 1);
  // If no input fits, try two anchors per cell, as in RetinaFace.
  return sizeOfRows(rows, each) ?? sizeOfRows(rows, 2) ?? USUAL;
}

const USUAL = [640, 640] as const;

/** Largest count of cells of a box's own mask. */
const MOST_BOX_CELLS = 64;

const strideOf = (family: Family, levels: number): number =>
  TRAITS[family].peaks?.stride ??
  (TRAITS[family].peaks || levels > 2 ? 8 : levels > 1 ? 16 : TRAITS[family].oneMap ? 32 : 16);

/** Returns dims with placeholders. An open first dim is the batch, or the row count of boxes without a batch. */
function closed(
  tensor: number,
  dims: OpenDims,
  { match, options: { family } }: Proposal,
  size: readonly [number, number],
): number[] {
  const { form, views } = match;
  const cells = cellsOf(gridsOf({ inputSize: size, strides: null }, [8, 16, 32]));
  const level = Object.entries(views)
    .filter(([part]) => form.parts[part].perLevel)
    .map(([, all]) => all.findIndex((view) => view.tensor === tensor))
    .find((place) => place >= 0);
  const { buildPriors } = TRAITS[family];
  const others = buildPriors ? buildPriors(size).length / 4 : null;
  const rows =
    level === undefined
      ? { cells, anchors: 3 * cells, list: 100, queries: 300, priors: others ?? 1000, any: others ?? 1 }[
          form.rows
        ]
      : (gridsOf({ inputSize: size, strides: null }, [8, 16, 32, 64, 128])[level]?.cells ?? 1) *
        (form.perCell ?? 1);
  const isBare = [views.boxes, views.rows].some((list) => list?.[0].rank === 2);
  const isCount = views.count?.some((view) => view.tensor === tensor);
  const times = views.prototypes?.some((view) => view.tensor === tensor) ? 4 : 1;
  const sides = [size[1] / times, size[0] / times];
  return dims.map((d, i) => {
    if (d !== null) return d;
    if (i === 0) return isBare && !isCount ? rows : 1;
    return dims.length === 4 && i > 1 && dims[2] === null && dims[3] === null ? sides[i - 2] : rows;
  });
}
