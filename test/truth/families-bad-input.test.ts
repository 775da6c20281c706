/**
 * Golden tensors of each family that were damaged: a column is missing, rows and columns are exchanged, one tensor has
 * fewer rows or is missing, values are NaN, counts and class ids are too large. Each ends in an error or a note, never
 * in silence.
 */
import { describe, expect, test } from "vitest";
import type { TypedOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import { readGoldenFamily } from "../support/golden-families.ts";
import { describeShared } from "../support/shared-data.ts";

/** Options of each golden case, besides the class count and the input size. */
const OPTIONS: { readonly [name: string]: Partial<TypedOptions> } = {
  "rfdetr-coco": { family: "rfdetr" },
  "rfdetr-custom": { family: "rfdetr" },
  "rfdetr-seg": { family: "rfdetr", task: "segment" },
  "rfdetr-keypoints": { family: "rfdetr", task: "pose", keypoints: [5, 3] },
  "dfine-raw": { family: "dfine" },
  "dfine-post": { family: "dfine" },
  "rtdetr-ultralytics": { family: "rtdetr" },
  "picodet-maps": { family: "picodet" },
  "picodet-boxes": { family: "picodet" },
  "ppyoloe-maps": { family: "ppyoloe" },
  "ppyoloe-rows": { family: "ppyoloe" },
  "recorded-picodet": { family: "picodet" },
  "rtmdet-maps": { family: "rtmdet" },
  "rtmdet-maps-mmyolo": { family: "rtmdet" },
  "libreyolo-yolo9": { family: "yolov9", boxFormat: "xyxy" },
  "damo-yolo": { family: "damo-yolo" },
  "yolonas-raw": { family: "yolo-nas" },
  "efficientdet-maps": { family: "efficientdet" },
  "paddle-nms": { family: "paddle-nms" },
  "mmdeploy-dets": { family: "mmdeploy" },
  "yolonas-flat": { family: "yolo-nas" },
  "yolonas-batch": { family: "yolo-nas" },
  "yolov7-trt": { family: "efficient-nms" },
  imx500: { family: "imx500" },
  "hailo-by-class": { family: "hailo-nms" },
  "hailo-by-score": { family: "hailo-nms" },
  "hailo-tf": { family: "hailo-nms" },
  "yolov7-end2end": { family: "yolov7" },
  "fomo-f32": { family: "fomo" },
  "fomo-i8": { family: "fomo" },
  "recorded-fomo": { family: "fomo" },
  centernet: { family: "centernet" },
  "face-det-lite": { family: "face-det-lite" },
  maskrcnn: { family: "mask-rcnn", coordinates: "pixels" },
  "rtmdet-ins": { family: "rtmdet-ins" },
  "dbnet-text": { family: "dbnet" },
  "recorded-ppocr": { family: "dbnet" },
  rtmo: { family: "rtmo" },
  "rtmpose-simcc": { family: "rtmpose" },
  "heatmaps-hrnet": { family: "hrnet" },
  "mediapipe-face-mesh": { family: "face-mesh" },
  "recorded-face-mesh": { family: "face-mesh" },
  "mediapipe-hand": { family: "hand-landmarks" },
  "mediapipe-pose": { family: "pose-landmarks" },
  "recorded-pose": { family: "pose-landmarks" },
};

/** Damage that needs no error and no note, by case: the tensors are still valid, or no detection reads the values. */
const HARMLESS: { readonly [name: string]: RegExp } = {
  // A network without a background column has one column less.
  "rfdetr-custom": /^labels: a column missing/,
  "rfdetr-seg": /^labels: a column missing/,
  "rfdetr-keypoints": /^labels: a column missing/,
  // A network with fewer queries is valid. No detection reads the maps of NaN.
  "rtdetr-ultralytics": /transposed|a row missing/,
  "picodet-maps": /^reg_.*NaN/,
  "recorded-picodet": /_[457].tmp_1: NaN$/,
  // No detection stands in these levels.
  "efficientdet-maps": /^box_net_[4567]: NaN/,
  // A list with one detection less, or with room for one less, is valid.
  "yolonas-flat": /a row missing/,
  "hailo-tf": /a column missing/,
  // Tensors that not every export has: offsets, a count, points in metres, heat.
  centernet: /^reg: missing/,
  imx500: /^n_valid: missing/,
  "mediapipe-hand": /^Identity_3: missing/,
  "mediapipe-pose": /^Identity_3: missing/,
  "recorded-pose": /^Identity_3: missing/,
};

type Tensors = Record<string, TensorInput>;

interface Damaged {
  readonly what: string;
  readonly tensors: Tensors;
}

const volume = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

/** Returns a tensor with a dimension cut by one. */
function cut({ data, dims, ...rest }: TensorInput, axis: number): TensorInput {
  const after = volume(dims.slice(axis + 1));
  const length = dims[axis];
  const kept = Array.from(data as ArrayLike<number>).filter(
    (_, i) => Math.floor(i / after) % length < length - 1,
  );
  const array = data.constructor as unknown as { from: (list: readonly unknown[]) => TensorInput["data"] };
  return { ...rest, data: array.from(kept), dims: dims.map((d, k) => (k === axis ? d - 1 : d)) };
}

/** Returns a tensor whose last two dimensions are exchanged, with the values where they were. */
const turned = (tensor: TensorInput): TensorInput => {
  const dims = [...tensor.dims];
  dims.push(...dims.splice(-2).reverse());
  return { ...tensor, dims };
};

/** Returns the values of a tensor, all replaced by one that is never right; null if its type has none. */
function spoilt({ data, dims }: TensorInput): readonly [what: string, data: TensorInput["data"]] | null {
  const count = volume(dims);
  if (data instanceof Float32Array) return ["NaN", new Float32Array(count).fill(NaN)];
  if (data instanceof Uint16Array) return ["NaN", new Uint16Array(count).fill(0x7e00)];
  if (data instanceof BigInt64Array) return ["integers too large", new BigInt64Array(count).fill(9999n)];
  if (data instanceof Int32Array) return ["integers too large", new Int32Array(count).fill(9999)];
  return null;
}

/** Returns every way to damage one of the tensors. */
function damagesOf(tensors: Tensors): Damaged[] {
  return Object.entries(tensors).flatMap(([name, tensor]): Damaged[] => {
    const { dims } = tensor;
    const last = dims.length - 1;
    const withTensor = (what: string, other: TensorInput): Damaged => ({
      what: `${name}: ${what}`,
      tensors: { ...tensors, [name]: other },
    });
    const isSquare = dims[last] === dims[last - 1];
    const values = spoilt(tensor);
    const others = Object.fromEntries(Object.entries(tensors).filter(([other]) => other !== name));
    return [
      ...(dims[last] > 1 ? [withTensor("a column missing", cut(tensor, last))] : []),
      ...(last > 0 && dims[last - 1] > 1 && !isSquare ? [withTensor("transposed", turned(tensor))] : []),
      ...(last > 0 && dims[last - 1] > 1 ? [withTensor("a row missing", cut(tensor, last - 1))] : []),
      ...(values ? [withTensor(values[0], { ...tensor, data: values[1] })] : []),
      { what: `${name}: missing`, tensors: others },
    ];
  });
}

describeShared("damaged golden tensors", (data) => {
  describe.each(Object.keys(OPTIONS))("%s", (name) => {
    const { fixture, outputs } = readGoldenFamily(data, name);
    const { width, height } = fixture.input;
    const options = {
      ...OPTIONS[name],
      ...(fixture.classes > 0 && { classes: fixture.classes }),
      inputSize: [width, height],
      confidenceThreshold: fixture.gate ?? 0.3,
    } as TypedOptions;

    const damages = damagesOf(outputs).filter(({ what }) => !HARMLESS[name]?.test(what));
    test.each(damages)("$what", ({ tensors }) => {
      const notes: string[] = [];
      let error: Error | null = null;
      try {
        const decoder = createDecoderSync(options, { onNote: (note) => notes.push(note) });
        const found = decoder.decode(tensors);
        // Masks are read on demand.
        if (found.length > 0 && /maskrcnn|seg|ins/.test(name)) found.mask(0, { size: "network" });
      } catch (thrown) {
        error = thrown as Error;
      }
      if (error) expect(["TensorError", "ConfigError"]).toContain(error.name);
      else expect(notes).not.toEqual([]);
    });
  });
});
