/** Makes a plan file from a config whose output shapes are known. `format.ts` documents the file. */
import { readConfig } from "../config/config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { ABI_VERSION } from "../core/abi.ts";
import { crc32 } from "../core/crc32.ts";
import { TensorError, refuse, refuseFor } from "../core/errors.ts";
import { checkSize, memoryOf } from "../core/memory.ts";
import { numbersOf } from "../core/number.ts";
import {
  ELEMENTS,
  ORDERS,
  type TensorData,
  type TensorInput,
  type TensorSpec,
  list,
  shape,
  specOf,
  volume,
} from "../core/tensor.ts";
import { assemble } from "../memory/assemble.ts";
import type { TaskPlan } from "../heads/head.ts";
import { specsOf } from "../heads/query.ts";
import type { MemoryLayout } from "../memory/layout.ts";
import { writeImage } from "../memory/write.ts";
import { labelsOf } from "../plan/classes.ts";
import { interpretConverted } from "../plan/converted.ts";
import type { Plan } from "../plan/plan.ts";
import * as F from "./format.ts";
import { edgesOf, namesOfPoints, putTask } from "./task.ts";
import { explain } from "../plan/explain.ts";
import { ALL_TASKS } from "../whole/tasks.ts";

/** A plan file, and the data from which it was made. */
export interface CompiledPlan {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly plan: Plan;
  readonly layout: MemoryLayout;
  /** The part of memory that the compiler writes: everything before the slots. */
  readonly image: Uint8Array;
  /** Class names by class id; empty if the plan has none. */
  readonly labels: readonly string[];
  /** All outputs of the network. The plan may read only some of them. */
  readonly outputs: readonly TensorSpec[];
}

/**
 * Compiles a config to a plan file. The config or `options.outputs` states the shape of every output.
 * @param valuesOf returns the values of an output, or null if unknown. A plan needs the values of an output that holds
 * prior boxes
 * @param scalarOnly true: only the scalar kernel will run, which needs less memory. The file does not state this, so
 * use it only as C source
 * @throws ConfigError, TensorError as `createDecoder` and its first frame would
 */
export function compilePlan(
  config: unknown,
  options: DecoderOptions = {},
  valuesOf: (name: string) => TensorData | null = () => null,
  scalarOnly = false,
): CompiledPlan {
  const settled = readConfig(config, options);
  const specs = settledSpecs(settled);
  const interpreted = interpretConverted(settled, specs, ALL_TASKS, valuesIn(specs, valuesOf));
  if (interpreted.isConverted)
    refuse(
      "",
      `${list(specs)}, rows that createDecoder brings into another form first`,
      "a network whose boxes the kernel reads as they are: a plan file has no place for that step",
    );
  const { plan, layout } = assemble(interpreted, explain, {
    // Do not gather: devices write whole tensors into the slots.
    gathers: false,
    scalarOnly,
  });
  if (plan.suppression)
    refuse(
      "suppression",
      `"${plan.suppression.method}"`,
      "none: a plan file suppresses greedily, as the kernels do",
    );
  if (plan.inPhoto)
    refuseFor(
      [{ option: "coordinates", value: "pixels" }],
      "coordinates",
      "boxes in pixels of the photo",
      'coordinates: "pixels" and a network that is told the size of its input: a plan file has no place for the photo\'s',
    );
  if (plan.task?.notInFiles)
    refuseFor(
      isSeparable(plan.task) ? [{ option: "task", value: "detect" }] : [],
      "",
      plan.task.about,
      "a network whose boxes need no more than the " +
        `kernel${isSeparable(plan.task) ? ', or task: "detect" for boxes alone' : ""}: a plan file has no ` +
        "place for the rest",
    );
  checkSize(layout.bytes, TensorError);
  const memory = memoryOf(new ArrayBuffer(layout.bytes));
  writeImage({ memory, plan, layout }, settled);
  // The compiler writes everything before the first slot.
  const image = new Uint8Array(memory.buffer, 0, layout.slots[0]);
  const labels = labelsOf(plan, settled.labels) ?? [];
  const { iouThreshold } = settled;
  const contents = { image, plan, layout, outputs: specs, labels };
  return { ...contents, bytes: fileOf({ ...contents, iouThreshold }) };
}

/** True if the boxes of the network can be decoded without the task. */
const isSeparable = (task: TaskPlan): boolean => "isMapOfRow" in task || "slots" in task;

/** Returns a function from the index `i` of a tensor to its values as numbers, or to null if unknown. */
export const valuesIn =
  (specs: readonly TensorSpec[], valuesOf: (name: string) => TensorData | null) =>
  (i: number): ArrayLike<number> | null => {
    const data = valuesOf(specs[i].name);
    // `specOf` checks length and type, as for the data of a frame.
    return data && numbersOf(specOf(specs[i].name, { ...specs[i], data } as TensorInput), data);
  };

/** Returns the outputs of a config. Throws if a shape is not stated. */
function settledSpecs(config: Config): TensorSpec[] {
  const { outputs } = config;
  if (outputs === null || outputs.length === 0)
    throw new TensorError(
      "outputs: got none, expected name, shape and type of every output. The config does not give them.",
      { options: [{ option: "outputs" }] },
    );
  const open = outputs.find((o) => o.dims === null);
  if (open !== undefined)
    throw new TensorError(`outputs: got no shape for "${open.name}", expected its dims`);
  return specsOf(config) as TensorSpec[];
}

/** Contents of a plan file. */
interface Contents {
  /** The start of the memory image. */
  readonly image: Uint8Array;
  readonly plan: Plan;
  readonly layout: MemoryLayout;
  /** All outputs of the network. The plan may read only some of them. */
  readonly outputs: readonly TensorSpec[];
  readonly labels: readonly string[];
  readonly iouThreshold: number;
}

/** Offsets of the parts of a file after the image. */
interface Offsets {
  readonly task: number;
  readonly headTable: number;
  readonly nameTable: number;
  readonly edgeTable: number;
  readonly imageTable: number;
  readonly slotTable: number;
  readonly labelTable: number;
  /** Offset of each tensor's name. */
  readonly names: readonly number[];
  readonly labels: readonly number[];
  readonly pointNames: readonly number[];
  readonly length: number;
}

/** Writes word `index` of the record at `offset`. */
type PutWord = (offset: number, index: number, value: number) => void;

function fileOf(contents: Contents): Uint8Array<ArrayBuffer> {
  const { image, plan, layout } = contents;
  checkInputSize(plan);
  const names = plan.tensors.map((t) => cString(t.name, "output name"));
  const labels = contents.labels.map((label) => cString(label, "label"));
  const points = namesOfPoints(plan).map((name) => cString(name, "keypoint name"));
  const offsets = offsetsOf(contents, names, labels, points);

  const bytes = new Uint8Array(offsets.length);
  const view = new DataView(bytes.buffer);
  const put: PutWord = (offset, index, value) => view.setUint32(offset + index * 4, value, true);
  bytes.set(image);
  putTask({ view, offsets, plan }, layout, contents.iouThreshold);
  offsets.pointNames.forEach((at, i) => put(offsets.nameTable, i, at));
  putImageTable(put, offsets, layout);
  putSlotTable(put, view, offsets, contents);
  offsets.labels.forEach((at, i) => put(offsets.labelTable, i, at));
  names.forEach((string, i) => bytes.set(string, offsets.names[i]));
  labels.forEach((string, i) => bytes.set(string, offsets.labels[i]));
  points.forEach((string, i) => bytes.set(string, offsets.pointNames[i]));
  putDirectory(put, offsets, contents);
  put(0, F.F_CHECK, crc32(bytes.subarray(F.F_FILE_BYTES * 4)));
  return bytes;
}

function checkInputSize({ inputSize }: Plan): void {
  if (inputSize !== null && !inputSize.every((n) => Number.isInteger(n) && n < 2 ** 31))
    refuse("inputSize", inputSize.join("x"), "whole pixels");
}

/** Returns the bytes of a string, followed by the zero byte that ends a string in C. */
function cString(s: string, where: string): Uint8Array {
  if (/\0|\p{Surrogate}/u.test(s))
    refuse(
      where,
      JSON.stringify(s),
      "text without a zero character, which ends a string in C, and without halves of surrogate pairs",
    );
  return new TextEncoder().encode(`${s}\0`);
}

/** Returns the offsets of the parts of a file, in the order of `format.ts`. */
function offsetsOf(
  { image, layout, plan }: Contents,
  names: readonly Uint8Array[],
  labels: readonly Uint8Array[],
  points: readonly Uint8Array[],
): Offsets {
  let at = image.length;
  const take = (bytes: number): number => {
    at += bytes;
    return at - bytes;
  };
  return {
    task: take(F.TASK_WORDS * 4),
    imageTable: take(layout.imageBlocks.length * F.IMAGE_WORDS * 4),
    slotTable: take(plan.tensors.length * F.SLOT_WORDS * 4),
    headTable: take(plan.task ? plan.heads.length * F.EXTRA_WORDS * 4 : 0),
    nameTable: take(points.length * 4),
    edgeTable: take(edgesOf(plan).length * 8),
    labelTable: take(labels.length * 4),
    names: names.map((string) => take(string.length)),
    labels: labels.map((string) => take(string.length)),
    pointNames: points.map((string) => take(string.length)),
    length: Math.ceil(at / 4) * 4,
  };
}

function putImageTable(put: PutWord, { imageTable }: Offsets, layout: MemoryLayout): void {
  layout.detections.forEach((columns, i) => {
    const row = imageTable + i * F.IMAGE_WORDS * 4;
    put(row, F.I_PLAN, layout.imageBlocks[i]);
    put(row, F.I_BOXES, columns.boxes);
    put(row, F.I_SCORES, columns.scores);
    put(row, F.I_CLASS_IDS, columns.classIds);
    put(row, F.I_SOURCES, columns.sources);
  });
}

function putSlotTable(put: PutWord, view: DataView, offsets: Offsets, contents: Contents): void {
  const { plan, layout, outputs } = contents;
  plan.tensors.forEach((t, i) => {
    if (t.dims.length > F.MAX_RANK) refuse(shape(t), `${t.dims.length} dims`, `at most ${F.MAX_RANK}`);
    const row = offsets.slotTable + i * F.SLOT_WORDS * 4;
    put(row, F.S_ADDRESS, layout.slots[i]);
    put(row, F.S_BYTES, volume(t.dims) * ELEMENTS[t.type].bytes);
    put(row, F.S_TYPE, ELEMENTS[t.type].code);
    view.setFloat32(row + F.S_SCALE * 4, t.scale ?? 1, true);
    view.setFloat32(row + F.S_ZERO * 4, t.zeroPoint, true);
    put(row, F.S_NAME, offsets.names[i]);
    put(row, F.S_RANK, t.dims.length);
    t.dims.forEach((size, k) => put(row, F.S_DIM_0 + k, size));
    put(row, F.S_ORDER, ORDERS.indexOf(String(t.order).toLowerCase()) + 1);
    const place = outputs.findIndex((o) => o.name === t.name);
    put(row, F.S_PLACE, place);
    put(row, F.S_OUTPUTS, outputs.length);
  });
}

function putDirectory(put: PutWord, offsets: Offsets, { image, plan, layout, labels }: Contents): void {
  put(0, F.F_MAGIC, F.PLAN_MAGIC);
  put(0, F.F_VERSION, F.PLAN_VERSION);
  put(0, F.F_ABI, ABI_VERSION);
  put(0, F.F_FILE_BYTES, offsets.length);
  put(0, F.F_IMAGE_BYTES, image.length);
  put(0, F.F_MEMORY_BYTES, layout.bytes);
  put(0, F.F_IMAGES, layout.imageBlocks.length);
  put(0, F.F_IMAGE_TABLE, offsets.imageTable);
  put(0, F.F_SLOTS, plan.tensors.length);
  put(0, F.F_SLOT_TABLE, offsets.slotTable);
  put(0, F.F_LABELS, labels.length);
  put(0, F.F_LABEL_TABLE, offsets.labelTable);
  put(0, F.F_MAX_DETECTIONS, plan.maxDetections);
  put(0, F.F_INPUT_WIDTH, plan.inputSize?.[0] ?? 0);
  put(0, F.F_INPUT_HEIGHT, plan.inputSize?.[1] ?? 0);
}
