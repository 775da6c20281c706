/** `prepareImage`: from the bytes of an image to a network's input tensor. */
import { type Crop, checkCrop } from "../../core/crop.ts";
import { refuse } from "../../core/errors.ts";
import { checkOptions, namesOnly } from "../../core/options.ts";
import * as A from "../../core/prepare-abi.ts";
import type { EngineName } from "../../core/engine-name.ts";
import { type Place, placeOf, roundToEven } from "../../core/place.ts";
import type { PrepareRule } from "../../core/prepare-rule.ts";
import { kindOf } from "../../core/tensor.ts";
import type { Frame } from "../../decode/frame.ts";
import type { ImageInput, PrepareOptions, Prepared, PreparedData } from "../../decode/prepare.ts";
import { makePrepareEngine } from "../../engine/choose.ts";
import type { PrepareEngine } from "../../engine/prepare.ts";
import { type QuarterTurns, turnRows, turnedSize } from "../../core/turn.ts";
import { PIXEL_STEPS, type PixelSteps, writeCrop } from "./crop.ts";
import { JOB, type JobLayout, type Strip, layOut, writeJob } from "./job.ts";
import { type CheckedImage, type CheckedRule, checkImage, checkRule, chromaStrideOf } from "./rule.ts";
import { PICTURE_ELEMENTS, padsOf } from "./values.ts";

/** Everything that belongs to one rule and one kind of image. Made once, used for every frame of a stream. */
interface Workspace {
  readonly engine: PrepareEngine;
  readonly layout: JobLayout;
  readonly rule: CheckedRule;
  readonly place: Place;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** For each strip, its rows of each plane of the tensor; one plane where channels stand together. */
  readonly planes: readonly (readonly PreparedData[])[];
  readonly dims: readonly number[];
  readonly frame: Frame;
}

/** Workspaces of the last rules and kinds of images, the latest last. */
const workspaces = new Map<string, Workspace>();
const MOST_WORKSPACES = 4;

/** The last call whose rule can never change. A stream of frames repeats it, and needs no key made of the rule. */
let last: (CheckedImage & { rule: PrepareRule; engine: string; work: Workspace }) | null = null;

const OPTIONS = /* @__PURE__ */ namesOnly("engine", "into", "crop");

/**
 * Makes a network's input tensor of an image: resizes, pads, orders the channels, normalises, quantises. `frame` holds
 * the pads and sizes that were used; `decode` takes boxes back with it exactly.
 *
 * Tables are made once for each rule and size of image, so a stream of frames costs no more than its pixels.
 * @param image bytes and their format; an `ImageData`, or the raw output of sharp with its format, fits as it is
 * @param rule what the network wants; `decoder.prepareRule` is one
 * @throws RangeError if image, rule or `into` is none; Error for an engine that cannot run here
 * @example
 * import { prepareImage } from "boxwright";
 *
 * const image = { data: new Uint8Array(4 * 8 * 4).fill(255), width: 8, height: 4 }; // white, 8 x 4
 * const { tensor, frame } = prepareImage(image, { size: [16, 16] });
 * console.log(tensor.type, tensor.dims); // f32 [1,3,16,16]
 * console.log(frame.placed); // [0,4,16,8]
 */
export function prepareImage(image: ImageInput, rule: PrepareRule, options: PrepareOptions = {}): Prepared {
  const checked = checkImage(image);
  const { engine = "auto", into } = checkOptions(options ?? {}, OPTIONS, {
    more: "; the rule is that of the decoder",
  });
  // A crop that is null is one that was not found, and not the whole picture.
  const crop = options?.crop;
  if (crop !== undefined && checked.rotation !== 0)
    refuse(
      "image.rotation",
      `${checked.rotation} beside a crop`,
      "no rotation, and the angle of the crop: cropOf of an image with a rotation turns the crop by it",
      RangeError,
    );
  if (crop !== undefined) return prepareCrop(checked, rule, crop, { engine, into });
  if (checked.rotation !== 0) return prepareTurned(checked, rule, { engine, into });
  const work = workspaceFor(checked, rule, engine);
  const data = into === undefined ? newData(work) : into;
  const elements = elementsOf(data, work);
  if (into !== undefined) checkApart(checked.data, elements);
  run(work, checked, elements);
  return { tensor: { data, dims: work.dims, type: work.rule.type }, frame: work.frame };
}

/** Makes the input tensor of a picture that lies on its side: turns it first, and says so in the frame. */
function prepareTurned(image: CheckedImage, rule: PrepareRule, options: PrepareOptions): Prepared {
  const { into } = options;
  if (ArrayBuffer.isView(into)) checkApart(image.data, into);
  const upright = turn(PIXEL_STEPS[image.format] ? image : unpack(image, options.engine ?? "auto"));
  const { tensor, frame } = prepareImage(upright, rule, options);
  const { width, height, rotation } = image;
  return { tensor, frame: turnedFrame(frame, width, height, rotation) };
}

/** The last turned frame, and the upright one that it was made of: a stream of frames repeats them. */
let lastTurned: { readonly upright: Frame; readonly turned: Frame } | null = null;

function turnedFrame(upright: Frame, width: number, height: number, rotation: QuarterTurns): Frame {
  if (lastTurned?.upright === upright && lastTurned.turned.rotation === rotation) return lastTurned.turned;
  const turned = Object.freeze({ ...upright, width, height, rotation });
  lastTurned = { upright, turned };
  return turned;
}

/** The pixels of the last turned picture, whose memory the next one of its size takes. */
let turnedPixels = new Uint32Array(0);

/** Rows that are turned at once: a run of so many pixels fills a line of the cache. */
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
  // Other formats than whole pixels are unpacked first, by the kernel.
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

/** Returns the workspace of a rule and a kind of image; makes it if it is not among the last ones. */
function workspaceFor(image: CheckedImage, rule: PrepareRule, engine: EngineName | "auto"): Workspace {
  const { width, height, format, stride } = image;
  const isLast =
    last?.engine === engine &&
    last.rule === rule &&
    last.width === width &&
    last.height === height &&
    last.format === format &&
    last.stride === stride;
  if (last && isLast) return last.work;
  // JSON has no BigInt, and `checkRule` refuses one in its own words.
  const key = JSON.stringify([rule, width, height, format, stride, engine], (_, x: unknown) =>
    typeof x === "bigint" ? String(x) : x,
  );
  const work = workspaces.get(key) ?? makeWorkspace(image, checkRule(rule), engine);
  workspaces.delete(key);
  workspaces.set(key, work);
  if (workspaces.size > MOST_WORKSPACES) workspaces.delete(workspaces.keys().next().value as string);
  const isFrozen = [rule, rule.size, rule.mean, rule.std, rule.pad].every(Object.isFrozen);
  last = isFrozen ? { ...image, data: NO_BYTES, rule, engine, work } : null;
  return work;
}

/** In the place of the bytes of the last image, which may go. */
const NO_BYTES = new Uint8Array(0);

function makeWorkspace(image: CheckedImage, rule: CheckedRule, wanted: EngineName | "auto"): Workspace {
  const { width, height } = image;
  const place = placeFor([width, height], rule);
  const layout = layOut(image, rule, place);
  const engine = makePrepareEngine(wanted, layout.bytes);
  writeJob(engine.buffer, image, rule, layout);
  const [inputWidth, inputHeight] = rule.size;
  const work: Workspace = {
    engine,
    layout,
    rule,
    place,
    bytes: new Uint8Array(engine.buffer),
    words: new Int32Array(engine.buffer),
    planes: layout.strips.map((strip) => planesOf(engine.buffer, rule, layout, strip)),
    dims: Object.freeze(
      rule.layout === "NCHW" ? [1, 3, inputHeight, inputWidth] : [1, inputHeight, inputWidth, 3],
    ),
    frame: Object.freeze({
      width,
      height,
      resize: rule.resize,
      placed: Object.freeze([place.left, place.top, place.width, place.height] as const),
    }),
  };
  padStrip(work);
  return work;
}

/** Returns the place of an image. Pillow resizes to whole pixels only, so a crop of its pixels has a whole size too. */
function placeFor(image: readonly [number, number], { size, resize, resample, margin }: CheckedRule): Place {
  const place = placeOf(image, size, resize, margin);
  if (resample !== "pillow") return place;
  return { ...place, width: roundToEven(place.width), height: roundToEven(place.height) };
}

/** Returns a strip's rows of each plane. */
function planesOf(
  buffer: ArrayBuffer,
  rule: CheckedRule,
  layout: JobLayout,
  { from, to }: Strip,
): PreparedData[] {
  const { array, log } = PICTURE_ELEMENTS[rule.type];
  const { out, outRow, outPlane } = layout;
  const length = ((to - from) * outRow) >> log;
  return (outPlane === 0 ? [0] : [0, 1, 2]).map((plane) => new array(buffer, out + plane * outPlane, length));
}

/** Pads the rows of the strip once: the kernel never writes into the padding. */
function padStrip({ engine, rule, layout }: Workspace): void {
  const { array, log } = PICTURE_ELEMENTS[rule.type];
  const { out, outPlane, outRow, strips } = layout;
  const elements = (outRow >> log) * Math.max(...strips.map(({ from, to }) => to - from));
  const planes = outPlane === 0 ? 1 : 3;
  const all = new array(engine.buffer, out, elements * planes);
  const pads = padsOf(rule);
  if (planes === 3) pads.forEach((pad, plane) => all.fill(pad, plane * elements, (plane + 1) * elements));
  else for (let i = 0; i < elements; i++) all[i] = pads[i % 3];
}

function newData({ rule }: Workspace): PreparedData {
  const { array, log } = PICTURE_ELEMENTS[rule.type];
  const length = 3 * rule.size[0] * rule.size[1];
  return new array(new ArrayBuffer(length << log), 0, length);
}

/** Returns `into` as the array that elements are written to. Bits of f16 go into a Float16Array through its buffer. */
function elementsOf(into: PreparedData, { rule, dims }: Pick<Workspace, "rule" | "dims">): PreparedData {
  const { array } = PICTURE_ELEMENTS[rule.type];
  const kind = kindOf(into);
  const length = 3 * rule.size[0] * rule.size[1];
  const fits = [array.name, ...(ALSO[rule.type] ?? [])].includes(kind);
  if (!fits || into.length !== length)
    refuse(
      "into",
      fits || ArrayBuffer.isView(into) ? `a ${kind} of ${into.length}` : String(into),
      `a ${array.name} of ${length} for type "${rule.type}", [${dims.join(",")}]`,
      RangeError,
    );
  if (kind === array.name) return into;
  return new array(into.buffer as ArrayBuffer, into.byteOffset, length);
}

/** Throws if the tensor would be written over the image: rows that are still to be read would be lost. */
function checkApart(image: ArrayBufferView, into: ArrayBufferView): void {
  const isApart =
    image.buffer !== into.buffer ||
    image.byteOffset + image.byteLength <= into.byteOffset ||
    into.byteOffset + into.byteLength <= image.byteOffset;
  if (!isApart)
    refuse(
      "into",
      "memory that the image lies in",
      "an array that shares no byte with the image",
      RangeError,
    );
}

/** Array classes that hold the same bytes. */
const ALSO: { readonly [type: string]: readonly string[] } = {
  f16: ["Float16Array"],
  u8: ["Uint8ClampedArray"],
};

/** Makes the tensor, strip by strip. */
function run(work: Workspace, image: CheckedImage, data: PreparedData): void {
  const { engine, layout, rule, place, words, planes } = work;
  const [width, height] = rule.size;
  const isTogether = layout.outPlane === 0;
  const channels = isTogether ? 3 : 1;
  const top = Math.max(0, place.top);
  padRows(work, data, 0, top);
  padRows(work, data, top + layout.y.count, height);
  const job = JOB >> 2;
  words[job + A.J_OUT] =
    layout.out + ((Math.max(0, place.left) * channels) << PICTURE_ELEMENTS[rule.type].log);
  for (let i = 0; i < layout.strips.length; i++) {
    const strip = layout.strips[i];
    bringIn(work, image, strip);
    words[job + A.J_FIRST] = strip.from;
    words[job + A.J_LAST] = strip.to;
    words[job + A.J_ORIGIN] = strip.firstRow;
    words[job + A.J_ROWS] = strip.endRow - strip.firstRow;
    words[job + A.J_ODD] = strip.firstRow & 1;
    engine.prepare(JOB);
    const row = (top + strip.from) * width * channels;
    for (let plane = 0; plane < planes[i].length; plane++)
      data.set(planes[i][plane], plane * width * height + row);
  }
}

/** Copies the source rows of a strip into memory. */
function bringIn({ bytes, layout }: Workspace, image: CheckedImage, { firstRow, endRow }: Strip): void {
  const { data, width, height, format, stride } = image;
  const { source, pixels, pixelStride, u, v } = layout;
  const isPixels = format === "rgba";
  if (isPixels && stride !== pixelStride)
    for (let row = firstRow; row < endRow; row++)
      bytes.set(
        data.subarray(row * stride, row * stride + 4 * width),
        pixels + (row - firstRow) * pixelStride,
      );
  else {
    // Copy nothing after the last row: the planes of chroma stand there, or the buffer ends.
    const end = Math.min(endRow * stride, height * stride, data.length);
    bytes.set(data.subarray(firstRow * stride, end), isPixels ? pixels : source);
  }
  const chroma = chromaStrideOf(format, stride);
  if (chroma === 0) return;
  const planeEnd = (plane: number): number => height * stride + (plane + 1) * ((height + 1) >> 1) * chroma;
  for (const [plane, to] of format === "nv12"
    ? [[0, u]]
    : [
        [0, u],
        [1, v],
      ]) {
    const start = planeEnd(plane - 1);
    const end = Math.min(start + ((endRow + 1) >> 1) * chroma, planeEnd(plane), data.length);
    bytes.set(data.subarray(start + (firstRow >> 1) * chroma, end), to);
  }
}

/** Pads whole rows of the tensor. */
function padRows({ rule, layout }: Workspace, data: PreparedData, from: number, to: number): void {
  if (from >= to) return;
  const [width, height] = rule.size;
  const [first, second, third] = padsOf(rule);
  if (layout.outPlane !== 0) {
    const plane = width * height;
    data.fill(first, from * width, to * width);
    data.fill(second, plane + from * width, plane + to * width);
    data.fill(third, 2 * plane + from * width, 2 * plane + to * width);
  } else if (first === second && second === third) data.fill(first, from * width * 3, to * width * 3);
  else
    for (let at = from * width * 3; at < to * width * 3; at += 3) {
      data[at] = first;
      data[at + 1] = second;
      data[at + 2] = third;
    }
}
