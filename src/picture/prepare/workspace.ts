/** A workspace holds the kernel's memory for one rule and one kind of image, and runs the kernel on it. */
import * as A from "../../core/prepare-abi.ts";
import type { EngineName } from "../../core/engine-name.ts";
import { type Place, placeOf, roundToEven } from "../../core/place.ts";
import type { PrepareRule } from "../../core/prepare-rule.ts";
import type { Frame } from "../../decode/frame.ts";
import {
  FRAME_MEMORIES,
  type FrameMemory,
  OWN_INPUTS,
  type OwnInput,
  type PreparedData,
} from "../../decode/prepare.ts";
import { makePrepareEngine } from "../../engine/prepare-engine.ts";
import type { PrepareEngine } from "../../engine/prepare.ts";
import { FORMATS, JOB, type JobLayout, type Strip, layOut, writeJob } from "./job.ts";
import { type CheckedImage, type CheckedRule, checkRule, chromaStrideOf } from "./rule.ts";
import { PICTURE_ELEMENTS, padsOf } from "./values.ts";

/** Memory and tables for one rule and one kind of image. All frames of a stream use the same workspace. */
export interface Workspace {
  readonly engine: PrepareEngine;
  readonly layout: JobLayout;
  readonly rule: CheckedRule;
  readonly place: Place;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** Rows of each strip in each plane of the tensor. Interleaved channels form one plane. */
  readonly planes: readonly (readonly PreparedData[])[];
  readonly dims: readonly number[];
  readonly frame: Frame;
  /** Inputs of lanes that were moved to `layout.tensors`, in order. */
  readonly inputs: OwnInput[];
}

/** Workspaces of recent rules and kinds of images, the latest last. */
const workspaces = new Map<string, Workspace>();
const MOST_WORKSPACES = 4;

/** A call with a frozen rule, without the bytes of the image. If the call is repeated, no key is made. */
interface RepeatableCall extends CheckedImage {
  readonly asked: PrepareRule;
  readonly engine: string;
  readonly work: Workspace;
}

/** The last call. A next call with equal arguments reuses its workspace. */
let last: RepeatableCall | null = null;

const isRepeated = (
  before: RepeatableCall | null,
  { width, height, format, stride }: CheckedImage,
  rule: PrepareRule,
  engine: string,
): before is RepeatableCall =>
  before?.engine === engine &&
  before.asked === rule &&
  before.width === width &&
  before.height === height &&
  before.format === format &&
  before.stride === stride;

const isFrozen = (rule: PrepareRule): boolean =>
  [rule, rule.size, rule.mean, rule.std, rule.pad].every(Object.isFrozen);

/** Returns the workspace for a rule and a kind of image. Makes a workspace unless a recent call had the same two. */
export function workspaceFor(image: CheckedImage, rule: PrepareRule, engine: EngineName | "auto"): Workspace {
  const memory = FRAME_MEMORIES.get(image.data);
  const before = memory ? (memory.kept as RepeatableCall | null) : last;
  if (isRepeated(before, image, rule, engine)) return before.work;
  // Give a reader of videos its own workspace, so that no other call overwrites its frame.
  if (memory && isFrozen(rule)) {
    const work = makeWorkspace(image, checkRule(rule), engine, memory);
    memory.kept = { ...image, data: NO_BYTES, asked: rule, engine, work } satisfies RepeatableCall;
    return work;
  }
  const { width, height, format, stride } = image;
  // Convert a BigInt, which JSON cannot write, so that `checkRule` can refuse it with a message.
  const key = JSON.stringify([rule, width, height, format, stride, engine], (_, x: unknown) =>
    typeof x === "bigint" ? String(x) : x,
  );
  const work = workspaces.get(key) ?? makeWorkspace(image, checkRule(rule), engine);
  workspaces.delete(key);
  workspaces.set(key, work);
  if (workspaces.size > MOST_WORKSPACES) workspaces.delete(workspaces.keys().next().value as string);
  last = isFrozen(rule) ? { ...image, data: NO_BYTES, asked: rule, engine, work } : null;
  return work;
}

/** Replaces the image's bytes in a `RepeatableCall`, so that the garbage collector can free them. */
const NO_BYTES = new Uint8Array(0);

/** Makes a workspace. `memory` becomes part of the workspace, and a reader of videos writes the next frame there. */
function makeWorkspace(
  image: CheckedImage,
  rule: CheckedRule,
  wanted: EngineName | "auto",
  memory?: FrameMemory,
): Workspace {
  const { width, height } = image;
  const place = placeFor([width, height], rule);
  const layout = layOut(image, rule, place, memory !== undefined);
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
    inputs: [],
  };
  padStrip(work);
  if (memory) {
    memory.bytes = new Uint8Array(engine.buffer, layout.image, image.data.length);
    FRAME_MEMORIES.set(memory.bytes, memory);
  }
  return work;
}

/** Returns the rectangle of the resized image. Pillow resizes to whole pixels only, so a crop gets whole sizes too. */
function placeFor(image: readonly [number, number], { size, resize, resample, margin }: CheckedRule): Place {
  const place = placeOf(image, size, resize, margin);
  if (resample !== "pillow") return place;
  return { ...place, width: roundToEven(place.width), height: roundToEven(place.height) };
}

/** Returns the rows of a strip in each plane. */
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

/** Writes the padding of a strip once, since the kernel never writes there. */
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

/** Moves a lane's input into a workspace's memory, if there is room. */
export function moveInput({ engine, rule, layout, inputs }: Workspace, input: OwnInput): void {
  const { data } = input;
  if (data.buffer === engine.buffer || inputs.length === layout.tensors.length) return;
  const { array } = PICTURE_ELEMENTS[rule.type];
  input.data = new array(engine.buffer, layout.tensors[inputs.length], data.length);
  input.padding = null;
  inputs.push(input);
  OWN_INPUTS.set(input.data, input);
}

/** Makes the rows of the image strip by strip. Writes directly to a tensor in the kernel's memory. */
export function run(work: Workspace, image: CheckedImage, data: PreparedData): void {
  const { engine, layout, rule, place, words, planes } = work;
  const [width, height] = rule.size;
  const { log } = PICTURE_ELEMENTS[rule.type];
  const isInKernel = data.buffer === engine.buffer;
  const isTogether = layout.outPlane === 0;
  const channels = isTogether ? 3 : 1;
  const top = Math.max(0, place.top);
  const left = (Math.max(0, place.left) * channels) << log;
  const job = JOB >> 2;
  words[job + A.J_OUT] = layout.out + left;
  words[job + A.J_OUT_PLANE] = isInKernel && !isTogether ? (width * height) << log : layout.outPlane;
  for (let i = 0; i < layout.strips.length; i++) {
    const strip = layout.strips[i];
    const row = (top + strip.from) * width * channels;
    bringIn(work, image, strip);
    if (isInKernel) words[job + A.J_OUT] = data.byteOffset + (row << log) + left;
    words[job + A.J_FIRST] = strip.from;
    words[job + A.J_LAST] = strip.to;
    words[job + A.J_ORIGIN] = strip.firstRow;
    words[job + A.J_ROWS] = strip.endRow - strip.firstRow;
    words[job + A.J_ODD] = strip.firstRow & 1;
    engine.prepare(JOB);
    if (!isInKernel)
      for (let plane = 0; plane < planes[i].length; plane++)
        data.set(planes[i][plane], plane * width * height + row);
  }
}

/** Brings a strip's source rows into the kernel's memory. */
function bringIn(work: Workspace, image: CheckedImage, { firstRow, endRow }: Strip): void {
  const { data, width, height, format, stride } = image;
  const { source, pixels, pixelStride, u, v } = work.layout;
  const isPixels = FORMATS[format] === A.FORMAT_PIXELS;
  // Copy nothing after the last row: chroma planes follow there, or the buffer ends.
  const end = Math.min(endRow, height) * stride;
  if (!isPixels) bringRows(work, data, A.J_SOURCE, firstRow * stride, end, source);
  else if (stride === pixelStride) bringRows(work, data, A.J_PIXELS, firstRow * stride, end, pixels);
  else
    for (let row = firstRow; row < endRow; row++)
      work.bytes.set(
        data.subarray(row * stride, row * stride + 4 * width),
        pixels + (row - firstRow) * pixelStride,
      );
  const chroma = chromaStrideOf(format, stride);
  if (chroma === 0) return;
  const plane = height * stride;
  const from = (firstRow >> 1) * chroma;
  const to = ((endRow + 1) >> 1) * chroma;
  bringRows(work, data, A.J_U, plane + from, plane + to, u);
  const second = plane + ((height + 1) >> 1) * chroma;
  if (format === "i420") bringRows(work, data, A.J_V, second + from, second + to, v);
}

/** Sets a word of the job to the address of image rows. Rows outside the kernel's memory are copied to `room` first. */
function bringRows(
  { bytes, words }: Workspace,
  data: CheckedImage["data"],
  word: number,
  from: number,
  end: number,
  room: number,
): void {
  const isInKernel = data.buffer === bytes.buffer;
  words[(JOB >> 2) + word] = isInKernel ? data.byteOffset + from : room;
  if (!isInKernel) bytes.set(data.subarray(from, Math.min(end, data.length)), room);
}

/**
 * Writes the padding above and below the image. Copied strips already contain the padding on their left and right. A
 * tensor in the kernel's memory is padded on all sides.
 */
export function pad(work: Workspace, data: PreparedData): void {
  const { engine, rule, place, layout } = work;
  if (data.buffer === engine.buffer) return padRows(work, data, 0, rule.size[1]);
  const top = Math.max(0, place.top);
  padRows(work, data, 0, top);
  padRows(work, data, top + layout.y.count, rule.size[1]);
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
