/** The workloads of the benchmark. A workload is a seeded tensor set and the threshold at which it is decoded. */
import {
  CLASSES,
  INPUT_SIZE,
  makeNms,
  makeV3,
  makeV5,
  makeV8,
  makeV8Half,
  makeV8Int8,
  V3_INPUT_SIZE,
  type ElementType,
  type TensorSet,
} from "./tensors.ts";

export const IOU_THRESHOLD = 0.45;
export const MAX_DETECTIONS = 300;

export interface WorkloadSpec {
  readonly name: string;
  readonly title: string;
  /** `nms` is suppression alone, over loose boxes. */
  readonly kind: "v8" | "v5" | "v3" | "nms";
  readonly type: ElementType;
  readonly threshold: number;
  readonly classes: number;
  /** Width and height of the network's input in pixels. */
  readonly inputSize: number;
  readonly images: number;
  /** Count of boxes of an `nms` workload, otherwise 0. */
  readonly boxes: number;
  /** In an `nms` workload, the class id of box i is i times this number. 0: all boxes have one class. */
  readonly classStep: number;
}

export interface Workload extends WorkloadSpec {
  readonly tensors: TensorSet;
}

const specOf = (name: string, title: string, rest: Partial<WorkloadSpec>): WorkloadSpec => ({
  name,
  title,
  kind: "v8",
  type: "float32",
  threshold: 0.25,
  classes: CLASSES,
  inputSize: INPUT_SIZE,
  images: 1,
  boxes: 0,
  classStep: 0,
  ...rest,
});

/** YOLOv8 at 0.25 with other counts of classes or images, or another input size. */
export const v8Spec = (name: string, rest: Partial<WorkloadSpec>): WorkloadSpec =>
  specOf(name, `YOLOv8, ${name}`, rest);

export const nmsSpec = (boxes: number): WorkloadSpec =>
  specOf(`nms-${boxes}`, `NMS alone, ${boxes} boxes`, { kind: "nms", threshold: 0, classes: 1, boxes });

/** Boxes that each have another class, so that none is suppressed. */
export const nmsClassesSpec = (boxes: number, classStep: number): WorkloadSpec =>
  specOf(`nms-${boxes}-classes-${classStep}`, `NMS alone, ${boxes} boxes, class ids i x ${classStep}`, {
    kind: "nms",
    threshold: 0,
    classes: boxes,
    boxes,
    classStep,
  });

const v3 = { kind: "v3", inputSize: V3_INPUT_SIZE } as const;

export const WORKLOADS: readonly WorkloadSpec[] = [
  specOf("v8@.25", "YOLOv8 [1,84,8400], 0.25", {}),
  specOf("v8@.001", "YOLOv8 [1,84,8400], 0.001", { threshold: 0.001 }),
  specOf("v5@.25", "YOLOv5 [1,25200,85], 0.25", { kind: "v5" }),
  specOf("v5@.001", "YOLOv5 [1,25200,85], 0.001", { kind: "v5", threshold: 0.001 }),
  specOf("v3@.25", "tiny-YOLOv3, 2 maps, 0.25", v3),
  specOf("v3@.001", "tiny-YOLOv3, 2 maps, 0.001", { ...v3, threshold: 0.001 }),
  specOf("v8-f16@.25", "YOLOv8 [1,84,8400] f16, 0.25", { type: "float16" }),
  specOf("v8-int8@.25", "YOLOv8 [1,4,8400] + [1,80,8400] int8, 0.25", { type: "int8" }),
  ...[100, 1000, 8400, 25200].map(nmsSpec),
];

/**
 * True if `word` is the name, or its beginning up to a separator: "v8" selects v8@.25, "nms-100" does not select
 * nms-1000.
 */
export const isMeant = (word: string, { name }: { readonly name: string }): boolean =>
  name === word || name.startsWith(`${word}@`) || name.startsWith(`${word}-`);

/** Seeds whose counts of candidates and detections are closest to those of recorded networks, among a few. */
const SEEDS = { v8: 107, v5: 236, v3: 144, nms: 149 };

function makeTensors({ kind, type, classes, inputSize, images, boxes }: WorkloadSpec): TensorSet {
  if (kind === "nms") return makeNms(SEEDS.nms, boxes);
  if (kind === "v5") return makeV5(SEEDS.v5);
  if (kind === "v3") return makeV3(SEEDS.v3);
  if (type === "float16") return makeV8Half(SEEDS.v8);
  if (type === "int8") return makeV8Int8(SEEDS.v8);
  return makeV8(SEEDS.v8, classes, inputSize, images);
}

/** Returns the options of `nms()` for an `nms` workload, without the engine. */
export const nmsOptions = ({
  boxes,
  classStep,
}: WorkloadSpec): { iouThreshold: number; maxDetections: number; classIds?: Int32Array } => ({
  iouThreshold: IOU_THRESHOLD,
  maxDetections: classStep === 0 ? MAX_DETECTIONS : boxes,
  ...(classStep > 0 && { classIds: Int32Array.from({ length: boxes }, (_, i) => i * classStep) }),
});

/** Makes the tensors of a workload: the same bytes in every process. */
export const makeWorkload = (spec: WorkloadSpec): Workload => ({ ...spec, tensors: makeTensors(spec) });

/** Returns all tensors of a workload as bytes, one after the other. */
export const bytesOf = ({ tensors }: Workload): Uint8Array =>
  Buffer.concat(
    Object.values(tensors).map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  );
