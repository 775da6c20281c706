/**
 * Compares a model file with the known forms of export, and returns the options of `createDecoder` for the form that
 * matches. A form is the names, shapes and metadata that one exporter gives to one kind of network.
 */
import {
  MOST_BOX_CELLS,
  NAMES_FORMS,
  type NamesForm,
  OPERATOR_FORMS,
  PAIRS_FORMS,
  type PairsForm,
  ROWS_FORMS,
  type RowsForm,
  type Exporter,
  ULTRALYTICS_CLASSIFIER,
} from "../../core/exporters.ts";
import { TRAITS } from "../../core/families.ts";
import { familyInName } from "../../core/family-names.ts";
import type { Family } from "../../core/family.ts";
import type { Roles, TypedOptions } from "../types.ts";
import type { NetworkFile } from "./file.ts";
import type { ModelInput, ModelTensor } from "./types.ts";
import type { UltralyticsMetadata } from "./ultralytics.ts";

/** Options for a file, and the exporter whose form the file matches. */
export interface Recognition {
  readonly exporter: Exporter;
  readonly options: Partial<TypedOptions>;
  /** True if a decoder also needs the class count or the class names. */
  readonly needsClasses?: boolean;
  /** True if the count of the file's class names differs from the class count of its outputs. */
  readonly areOthersNames?: true;
}

/** Facts about a model file that are compared with the forms. */
export interface Evidence {
  readonly file: NetworkFile;
  readonly metadata: UltralyticsMetadata | null;
  readonly input: ModelInput | null;
  readonly inputSize: readonly [number, number] | null;
  /** True if the class names in the metadata are those of another network. They are then ignored. */
  readonly ignoresNames?: true;
}

/** Returns the options of the first form that matches, `null` if none does. */
export function recognise(evidence: Evidence): Recognition | null {
  const { file, metadata } = evidence;
  if (metadata?.task === "classify") {
    const isScores = ({ dims }: ModelTensor): boolean => dims?.slice(-1)[0] === metadata.names.length;
    return file.outputs.length === 1 && isScores(file.outputs[0]) ? ULTRALYTICS_CLASSIFIER : null;
  }
  for (const form of OPERATOR_FORMS) {
    const outputs = file.operatorOutputs[form.operator];
    if (outputs === undefined || outputs.length !== form.roles.length) continue;
    const roles: Roles = Object.fromEntries(form.roles.map((role, i) => [role, outputs[i]]));
    return { exporter: form.exporter, options: { family: form.family, roles } };
  }
  for (const form of NAMES_FORMS) {
    const { exporter, family, task, needsClasses } = form;
    if (!hasNames(form, file)) continue;
    return { exporter, options: { family, ...(task && { task }), ...pointsIn(form, file) }, needsClasses };
  }
  for (const form of PAIRS_FORMS) {
    const classes = classesOfPairs(form, file.outputs);
    if (classes !== null) return { exporter: form.exporter, options: { family: form.family, classes } };
  }
  for (const form of ROWS_FORMS) {
    const options = optionsOfRows(form, evidence);
    if (options !== null) return { exporter: form.exporter, options };
  }
  // If nothing matches, the class names may be those of another network, such as COCO's in exports of YOLO-World. Try
  // again without the names: the class count then follows from the output shapes.
  if (metadata === null || evidence.ignoresNames) return null;
  const found = recognise({ ...evidence, ignoresNames: true });
  return found && { ...found, needsClasses: true, areOthersNames: true };
}

function hasNames({ outputs, inputs = [], isWhole, boxMasks }: NamesForm, file: NetworkFile): boolean {
  // An exporter may leave the last dimension open. Accept an open last dimension only if the form also names an input.
  const fits = (dims: ModelTensor["dims"], last: number): boolean =>
    dims?.length === 3 && (dims[2] === last || (inputs.length > 0 && typeof dims[2] !== "number"));
  const areNamed = Object.entries(outputs).every(([name, last]) =>
    file.outputs.some((o) => o.name === name && (last === null || fits(o.dims, last))),
  );
  const isMask = ({ name, dims }: ModelTensor): boolean => {
    const [height, width] = dims?.slice(-2) ?? [];
    return name === boxMasks && typeof width === "number" && width === height && width <= MOST_BOX_CELLS;
  };
  return (
    areNamed &&
    inputs.every((name) => file.inputs.some((i) => i.name === name)) &&
    (!isWhole || file.outputs.length === Object.keys(outputs).length) &&
    (boxMasks === undefined || file.outputs.some(isMask))
  );
}

/**
 * Returns the option `keypoints` from the shape of the output [1,N,K,3]. Returns no option if K is open, or if the form
 * has no such output.
 */
function pointsIn({ points }: NamesForm, { outputs }: NetworkFile): Partial<TypedOptions> {
  const [, , count, values] = outputs.find(({ name }) => name === points)?.dims ?? [];
  return typeof count === "number" && (values === 2 || values === 3) ? { keypoints: [count, values] } : {};
}

/** Returns the class count if all outputs are pairs of scores and boxes, `null` otherwise. */
function classesOfPairs(form: PairsForm, outputs: readonly ModelTensor[]): number | null {
  const channels = (tensor: ModelTensor | undefined): number | string | null =>
    tensor?.dims?.slice(-1)[0] ?? null;
  const scores = outputs.filter(({ name }) => name.startsWith(form.scores));
  const classes = channels(scores[0]);
  const areWhole = scores.every((tensor) => {
    const boxes = form.boxes + tensor.name.slice(form.scores.length);
    return (
      channels(tensor) === classes &&
      channels(outputs.find(({ name }) => name === boxes)) === form.boxChannels
    );
  });
  return typeof classes === "number" && areWhole && outputs.length === 2 * scores.length ? classes : null;
}

function optionsOfRows(form: RowsForm, evidence: Evidence): Partial<TypedOptions> | null {
  const { file, metadata, input, inputSize } = evidence;
  const isNamed = form.input !== undefined;
  if (isNamed === (metadata !== null) || (form.endToEnd && !metadata?.endToEnd)) return null;
  if (isNamed && (file.outputs.length !== 1 || input?.name !== form.input || inputSize === null)) return null;
  if (form.word && !form.word.test(file.description ?? "")) return null;
  const output = file.outputs.find(
    ({ name, dims }) => dims?.length === 3 && [name, undefined].includes(form.output),
  );
  const rows = output && rowsOf(form, evidence, output);
  if (!rows) return null;
  const family = familyOf(form, file.description);
  return {
    family,
    ...(isNamed ? { classes: rows.classes } : {}),
    ...(form.endToEnd ? { reading: "end-to-end" } : {}),
    ...decodingOf(form, file),
    ...(form.statesStrides && rows.strides ? { strides: rows.strides } : {}),
    ...coordinatesOf(form, evidence, output),
  };
}

/** Returns the option that states whether the network decodes its boxes. The operators in its graph show it. */
function decodingOf({ decoder }: RowsForm, { operators }: NetworkFile): Partial<TypedOptions> {
  if (decoder === undefined) return {};
  return operators.has(decoder) ? { boxFormat: "cxcywh" } : { reading: "point-rows" };
}

interface Rows {
  readonly classes: number;
  readonly strides: readonly number[] | null;
}

/**
 * Returns the class count and the strides of an output with rows, whose channels are last or first. Returns `null` if
 * the output does not match the form.
 */
function rowsOf(form: RowsForm, evidence: Evidence, { dims }: ModelTensor): Rows | null {
  if (dims === null) return null;
  const { metadata, inputSize } = evidence;
  // If all dimensions are open, metadata with a task are enough evidence of the form. Only Ultralytics' package writes
  // the task: the export script of YOLOv5 does not.
  if (metadata?.taskName && dims.slice(1).every((size) => typeof size !== "number"))
    return { classes: metadata.names.length, strides: null };
  const orders = [
    [dims[1], dims[2]],
    // Channels first. Some forms never have this order.
    ...(form.endToEnd || form.input !== undefined ? [] : [[dims[2], dims[1]]]),
  ];
  for (const [count, channels] of orders) {
    if (typeof channels !== "number") continue;
    const extra = extraChannels(evidence);
    const named = evidence.ignoresNames ? undefined : metadata?.names.length;
    const classes = form.endToEnd ? 0 : (named ?? channels - form.boxChannels - extra);
    const isWide = channels === form.boxChannels + classes + extra;
    const isTold = named !== undefined || (classes >= 1 && typeof count === "number");
    if (!isWide || (!isTold && !form.endToEnd)) continue;
    if (evidence.ignoresNames && form.rowsPerCell === undefined) continue;
    if (form.rowsPerCell === undefined) return { classes, strides: null };
    // Accept an open row count if there are metadata, which state the classes and the input size.
    if (typeof count !== "number" || inputSize === null) return metadata && { classes, strides: null };
    const strides = form.strides.find((list) => count === (form.rowsPerCell ?? 1) * cellsOf(list, inputSize));
    if (strides) return { classes, strides };
  }
  return null;
}

/** Returns the count of channels after the classes: keypoints, mask coefficients or an angle. */
function extraChannels({ file, metadata }: Evidence): number {
  if (metadata?.task === "oriented") return 1;
  if (metadata?.task === "pose" && metadata.keypoints) return metadata.keypoints[0] * metadata.keypoints[1];
  if (metadata?.task !== "segment") return 0;
  // There are as many coefficients as prototype channels. All networks so far have 32.
  const prototypes = file.outputs.find(({ dims }) => dims?.length === 4)?.dims ?? [];
  const [, first, , last] = prototypes;
  return [first, last].includes(MASK_COEFFICIENTS) ? MASK_COEFFICIENTS : 0;
}

const MASK_COEFFICIENTS = 32;

const cellsOf = (strides: readonly number[], [width, height]: readonly [number, number]): number =>
  strides.reduce((sum, stride) => sum + Math.ceil(width / stride) * Math.ceil(height / stride), 0);

/**
 * Returns the family named in the description, if that family has the same kind of head as the form. Otherwise returns
 * the form's family.
 */
function familyOf(form: RowsForm, description: string | null): Family {
  const named = familyInName(description ?? "");
  return named !== null && TRAITS[named].head === TRAITS[form.family].head ? named : form.family;
}

/** Upper limit for coordinates of normalised boxes, with a margin. Coordinates in pixels reach some hundreds. */
const NORMALISED_BELOW = 4;

/**
 * Returns the unit of boxes in a TFLite export of Ultralytics. For integer outputs, scale and type bound the values,
 * which shows the unit. For float outputs, assume the exporter's rule: boxes are normalised, except those of end-to-end
 * networks with NCHW inputs.
 */
function coordinatesOf(
  form: RowsForm,
  { file, metadata, input }: Evidence,
  output: ModelTensor,
): Partial<TypedOptions> {
  if (file.format !== "tflite" || metadata === null || TRAITS[form.family].coordinates !== undefined)
    return {};
  // Take the largest of several scales: it belongs to the box channels.
  const scale = output.quantisation ? Math.max(...output.quantisation.scale) : undefined;
  const range = { u8: 255, i8: 255, i16: 32767 }[output.type];
  if (scale !== undefined && range !== undefined)
    return { coordinates: scale * range < NORMALISED_BELOW ? "normalised" : "pixels" };
  return { coordinates: form.endToEnd && input?.layout === "NCHW" ? "pixels" : "normalised" };
}
