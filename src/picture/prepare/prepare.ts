/** `prepareImage` makes a network's input tensor from the bytes of an image. */
import { type Crop, checkCrop } from "../../core/crop.ts";
import { refuseValue } from "../../core/errors.ts";
import { checkOptions, namesOnly } from "../../core/options.ts";
import type { EngineName } from "../../core/engine-name.ts";
import type { PrepareRule } from "../../core/prepare-rule.ts";
import { kindOf, volume } from "../../core/tensor.ts";
import type { Frame } from "../../decode/frame.ts";
import {
  type ImageInput,
  OWN_INPUTS,
  type PrepareOptions,
  type Prepared,
  type PreparedData,
} from "../../decode/prepare.ts";
import { type QuarterTurns, turnRows, turnedSize } from "../../core/turn.ts";
import { PIXEL_STEPS, type PixelSteps, writeCrop } from "./crop.ts";
import { writeGray } from "./gray.ts";
import { type CheckedImage, checkImage, checkRule } from "./rule.ts";
import { PICTURE_ELEMENTS } from "./values.ts";
import { type Workspace, moveInput, pad, run, workspaceFor } from "./workspace.ts";

const OPTIONS = /* @__PURE__ */ namesOnly("engine", "into", "crop");

/**
 * Makes a network's input tensor of an image: resizes, pads, orders the channels, normalises, quantises. The returned
 * `frame` holds pads and sizes. With it, `decode` returns boxes in exact coordinates of the image.
 *
 * Tables are made once for each rule and image size, so that later frames of a stream only cost their pixels.
 * @param image bytes and their format; an `ImageData`, or the raw output of sharp with its format, fits as it is
 * @param rule the preparation that the network expects, for instance `decoder.prepareRule`
 * @throws RangeError if image, rule or `into` is wrong; Error for an engine that cannot run here
 * @example
 * import { prepareImage } from "boxwright";
 *
 * const image = { data: new Uint8Array(4 * 8 * 4).fill(255), width: 8, height: 4 }; // white, 8 x 4
 * const { tensor, frame } = prepareImage(image, { size: [16, 16] });
 * console.log(tensor.type, tensor.dims); // f32 [1,3,16,16]
 * console.log(frame.placed); // [0,4,16,8]
 */
export function prepareImage(image: ImageInput, rule: PrepareRule, options: PrepareOptions = {}): Prepared {
  if (rule?.order === "GRAY") return prepareGray(image, rule, options);
  const checked = checkImage(image);
  const { engine = "auto", into } = checkOptions(options ?? {}, OPTIONS, {
    more: "; the rule is that of the decoder",
  });
  // Compare with undefined: `prepareCrop` refuses null, which may come from a search without a result.
  const crop = options?.crop;
  if (crop !== undefined && checked.rotation !== 0)
    refuseValue(
      "image.rotation",
      `${checked.rotation} beside a crop`,
      "no rotation, and the angle of the crop: cropOf of an image with a rotation turns the crop by it",
    );
  if (crop !== undefined) return prepareCrop(checked, rule, crop, { engine, into });
  if (checked.rotation !== 0) return prepareTurned(checked, rule, { engine, into });
  const work = workspaceFor(checked, rule, engine);
  const given = into === undefined ? newData(work) : into;
  const own = OWN_INPUTS.get(given);
  if (own) moveInput(work, own);
  const data = own?.data ?? given;
  const elements = elementsOf(data, work);
  if (into !== undefined) checkApart(checked.data, elements);
  if (!takePadding(data, work)) pad(work, elements);
  run(work, checked, elements);
  return { tensor: { data, dims: work.dims, type: work.rule.type }, frame: work.frame };
}

/**
 * Makes the input tensor of a picture that is stored turned. Turns it upright first, and records the rotation in the
 * frame.
 */
function prepareTurned(image: CheckedImage, rule: PrepareRule, options: PrepareOptions): Prepared {
  const { into } = options;
  if (ArrayBuffer.isView(into)) checkApart(image.data, into);
  const upright = turn(PIXEL_STEPS[image.format] ? image : unpack(image, options.engine ?? "auto"));
  const { tensor, frame } = prepareImage(upright, rule, options);
  const { width, height, rotation } = image;
  return { tensor, frame: turnedFrame(frame, width, height, rotation) };
}

/** Makes an input tensor of one channel: the weighted sum of three channels of bytes. */
function prepareGray(image: ImageInput, rule: PrepareRule, options: PrepareOptions): Prepared {
  const checked = checkRule(rule);
  const { into, ...more } = checkOptions(options ?? {}, OPTIONS, {});
  const none = { mean: undefined, std: undefined, factor: undefined, scale: undefined, zeroPoint: undefined };
  const bytes = { ...rule, ...none, pad: checked.pad, order: "RGB", type: "u8", layout: "NHWC" } as const;
  const { tensor, frame } = prepareImage(image, bytes, more);
  const { array, log } = PICTURE_ELEMENTS[checked.type];
  const [width, height] = checked.size;
  const dims = Object.freeze(checked.layout === "NCHW" ? [1, 1, height, width] : [1, height, width, 1]);
  const data = into ?? new array(new ArrayBuffer((width * height) << log), 0, width * height);
  const elements = elementsOf(data, { rule: checked, dims });
  takePadding(data, null);
  const isPadded = checked.resize.startsWith("letterbox") && frame.placed !== undefined;
  writeGray(tensor.data, checked, elements, isPadded ? frame.placed : [0, 0, width, height]);
  return { tensor: { data, dims, type: checked.type }, frame };
}

/** The last turned frame with its upright frame. Kept, because a stream has many frames of one size. */
let lastTurned: { readonly upright: Frame; readonly turned: Frame } | null = null;

function turnedFrame(upright: Frame, width: number, height: number, rotation: QuarterTurns): Frame {
  if (lastTurned?.upright === upright && lastTurned.turned.rotation === rotation) return lastTurned.turned;
  const turned = Object.freeze({ ...upright, width, height, rotation });
  lastTurned = { upright, turned };
  return turned;
}

/** Memory for the turned pixels, reused for the next picture of the same size. */
let turnedPixels = new Uint32Array(0);

/** Count of rows to turn at once: that many pixels fill a cache line. */
const TURNED_ROWS = 16;

/** Returns an upright image as RGBA. The next call overwrites it. */
function turn(image: CheckedImage): ImageInput {
  const { data, width, height, stride, rotation, format } = image;
  const { pixel: step, channels } = PIXEL_STEPS[format] as PixelSteps;
  const [first, second, third] = channels;
  if (turnedPixels.length !== width * height) turnedPixels = new Uint32Array(width * height);
  const rows = new Uint32Array(width * TURNED_ROWS);
  for (let row = 0; row < height; row += TURNED_ROWS) {
    const count = Math.min(TURNED_ROWS, height - row);
    for (let y = 0; y < count; y++)
      for (let x = 0, at = (row + y) * stride, to = y * width; x < width; x++, at += step, to++)
        rows[to] = data[at + first] | (data[at + second] << 8) | (data[at + third] << 16);
    turnRows(rows, width, [width, height], rotation, turnedPixels, row, count);
  }
  const [uprightWidth, uprightHeight] = turnedSize([width, height], rotation);
  return { data: new Uint8Array(turnedPixels.buffer), width: uprightWidth, height: uprightHeight };
}

/** Makes the input tensor of a crop. */
function prepareCrop(
  image: CheckedImage,
  rule: PrepareRule,
  crop: Crop,
  { engine = "auto", into }: PrepareOptions,
): Prepared {
  checkCrop(crop, "crop");
  const checked = checkRule(rule);
  const { array, log } = PICTURE_ELEMENTS[checked.type];
  const [width, height] = checked.size;
  const dims = Object.freeze(checked.layout === "NCHW" ? [1, 3, height, width] : [1, height, width, 3]);
  const length = 3 * width * height;
  const data = into ?? new array(new ArrayBuffer(length << log), 0, length);
  const elements = elementsOf(data, { rule: checked, dims });
  if (into !== undefined) checkApart(image.data, elements);
  takePadding(data, null);
  // Let the kernel unpack formats other than interleaved pixels first.
  writeCrop(PIXEL_STEPS[image.format] ? image : unpack(image, engine), checked, crop, elements);
  const frame = {
    width: image.width,
    height: image.height,
    resize: "stretch",
    crop: Object.freeze({ ...crop }),
  } as const;
  return { tensor: { data, dims, type: checked.type }, frame: Object.freeze(frame) };
}

/** Returns an image as RGB, three bytes a pixel. */
function unpack(image: CheckedImage, engine: EngineName | "auto"): CheckedImage {
  const { width, height } = image;
  const rule = { size: [width, height], resize: "stretch", type: "u8", layout: "NHWC" } as const;
  const { tensor } = prepareImage({ ...image, rotation: 0 }, rule, { engine });
  const data = tensor.data as Uint8Array;
  return { data, width, height, format: "rgb", stride: 3 * width, rotation: image.rotation };
}

function newData({ rule }: Workspace): PreparedData {
  const { array, log } = PICTURE_ELEMENTS[rule.type];
  const length = 3 * rule.size[0] * rule.size[1];
  return new array(new ArrayBuffer(length << log), 0, length);
}

/** Returns `into` as the array to write elements to. A Float16Array is written as bits through its buffer. */
function elementsOf(into: PreparedData, { rule, dims }: Pick<Workspace, "rule" | "dims">): PreparedData {
  const { array } = PICTURE_ELEMENTS[rule.type];
  const kind = kindOf(into);
  const length = volume(dims);
  const fits = [array.name, ...(ALSO[rule.type] ?? [])].includes(kind);
  if (!fits || into.length !== length)
    refuseValue(
      "into",
      fits || ArrayBuffer.isView(into) ? `a ${kind} of ${into.length}` : String(into),
      `a ${array.name} of ${length} for type "${rule.type}", [${dims.join(",")}]`,
    );
  if (kind === array.name) return into;
  return new array(into.buffer as ArrayBuffer, into.byteOffset, length);
}

/** Throws if the tensor overlaps the image: image rows are read after the first tensor rows are written. */
function checkApart(image: ArrayBufferView, into: ArrayBufferView): void {
  const isApart =
    image.buffer !== into.buffer ||
    image.byteOffset + image.byteLength <= into.byteOffset ||
    into.byteOffset + into.byteLength <= image.byteOffset;
  if (!isApart)
    refuseValue("into", "memory that the image lies in", "an array that shares no byte with the image");
}

/**
 * True if a tensor still holds the padding of a workspace. If no other code writes to the tensor, records the workspace
 * for the next call. A crop has no workspace and leaves no padding.
 */
function takePadding(data: PreparedData, work: Workspace | null): boolean {
  const own = OWN_INPUTS.get(data);
  if (own === undefined) return false;
  const isPadded = own.padding === work;
  own.padding = work;
  return isPadded;
}

/** Other array classes for the same bytes. */
const ALSO: { readonly [type: string]: readonly string[] } = {
  f16: ["Float16Array"],
  u8: ["Uint8ClampedArray"],
};
