/** Lays out the memory for one kind of picture: tables, a strip of source rows, and the tensor rows made of them. */
import * as A from "../../core/prepare-abi.ts";
import { checkSize } from "../../core/memory.ts";
import type { ImageFormat, PreparedData } from "../../decode/prepare.ts";
import { type Place, roundToEven } from "../../core/place.ts";
import { type CheckedImage, type CheckedRule, chromaStrideOf } from "./rule.ts";
import { type Axis, type AxisTable, type Resampling, edgeColumns, resamplingOf } from "./tables.ts";
import { PICTURE_ELEMENTS, valueOf } from "./values.ts";

/** A strip: some rows of the resized image, and the source rows that they depend on. */
export interface Strip {
  readonly from: number;
  readonly to: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** Memory map of a job. Lengths are in bytes. */
export interface JobLayout {
  readonly bytes: number;
  readonly resampling: Resampling;
  /** Axes of the resized image, limited to the part inside the input. */
  readonly x: Axis;
  readonly y: Axis;
  readonly strips: readonly Strip[];
  readonly columnTable: number;
  readonly rowTable: number;
  readonly columnWeights: number;
  readonly rowWeights: number;
  readonly values: number;
  /** Address of a strip's source bytes. Used only if the format must be unpacked. */
  readonly source: number;
  readonly u: number;
  readonly v: number;
  readonly pixels: number;
  readonly pixelStride: number;
  readonly scratch: number;
  readonly resampled: number;
  /** Address of a whole frame, if the workspace belongs to a reader of videos. */
  readonly image: number;
  /** Addresses of the tensors of whole frames, one per lane of a detector. */
  readonly tensors: readonly number[];
  /** Address of the tensor rows that a strip makes, over the input's whole width. */
  readonly out: number;
  readonly outRow: number;
  readonly outPlane: number;
}

/** Bytes of a strip's source rows and tensor rows together. They fit the nearest caches. */
const STRIP_BYTES = 1 << 17;
/** Bytes after the strip, since vector instructions may read past its end. */
const SLACK = 64;

/** The kernel's word for each format. */
export const FORMATS: { readonly [F in ImageFormat]: number } = {
  rgba: A.FORMAT_PIXELS,
  bgra: A.FORMAT_PIXELS,
  rgb: A.FORMAT_THREE,
  bgr: A.FORMAT_THREE,
  gray: A.FORMAT_GRAY,
  yuyv: A.FORMAT_YUYV,
  nv12: A.FORMAT_NV12,
  i420: A.FORMAT_I420,
};

/** Returns the memory map for a picture. `keepsFrames` reserves room for whole frames and their tensors. */
export function layOut(
  image: CheckedImage,
  rule: CheckedRule,
  place: Place,
  keepsFrames: boolean,
): JobLayout {
  const [width, height] = rule.size;
  const axis = (source: number, length: number, start: number, input: number): Axis => {
    const resized = roundToEven(length);
    return {
      source,
      resized,
      factor: length / source,
      from: Math.max(0, -start),
      count: Math.min(resized, input),
    };
  };
  const x = axis(image.width, place.width, place.left, width);
  const y = axis(image.height, place.height, place.top, height);
  const resampling = resamplingOf(x, y, rule.resample);
  const { columns, rows, kind } = resampling;
  const isPixels = FORMATS[image.format] === A.FORMAT_PIXELS;
  const pixelStride = isPixels && image.stride % 4 === 0 ? image.stride : image.width * 4;
  const elementBytes = 1 << PICTURE_ELEMENTS[rule.type].log;
  const isTogether = rule.layout === "NHWC";
  const outRow = width * elementBytes * (isTogether ? 3 : 1);
  const strips = stripsOf(rows, y.count, pixelStride, (isTogether ? 1 : 3) * outRow);
  const tallest = Math.max(...strips.map(({ from, to }) => to - from));
  const span = Math.max(...strips.map(({ firstRow, endRow }) => endRow - firstRow));
  let at = 16;
  const room = (bytes: number): number => {
    const address = at;
    at += Math.ceil(bytes / 16) * 16;
    return address;
  };
  room(A.JOB_WORDS * 4);
  const chroma = chromaStrideOf(image.format, image.stride) * ((span >> 1) + 1);
  const layout = {
    resampling,
    x,
    y,
    strips,
    columnTable: room(x.count * 8),
    rowTable: room(y.count * 12),
    columnWeights: room(columns.weights.length * 4),
    rowWeights: room(rows.weights.length * 4),
    values: room(3 * 256 * elementBytes),
    source: room(isPixels ? 0 : span * image.stride + SLACK),
    u: room(chroma + SLACK),
    v: room(chroma + SLACK),
    pixels: room(span * pixelStride + SLACK),
    pixelStride,
    scratch: room(scratchRows(kind, span) * x.count * 4 + SLACK),
    resampled: room(tallest * x.count * 4 + SLACK),
    image: room(keepsFrames ? image.data.length + SLACK : 0),
    tensors: keepsFrames ? [0, 1].map(() => room(3 * width * height * elementBytes + SLACK)) : [],
    out: room(tallest * outRow * (isTogether ? 1 : 3) + SLACK),
    outRow,
    outPlane: isTogether ? 0 : tallest * outRow,
  };
  checkSize(at, RangeError);
  return { ...layout, bytes: at };
}

/** Returns how many rows of pixels the scratch must hold. */
function scratchRows(kind: number, span: number): number {
  if (kind === A.KIND_LINEAR) return 4;
  if (kind === A.KIND_AREA) return 8;
  return kind === A.KIND_TAPS ? span : 0;
}

/** Cuts the rows into strips of at most STRIP_BYTES. A strip has at least one row. */
function stripsOf({ first, end }: AxisTable, count: number, rowBytes: number, outBytes: number): Strip[] {
  const strips: Strip[] = [];
  const most = Math.max(1, Math.floor(STRIP_BYTES / outBytes));
  for (let from = 0; from < count;) {
    let to = from + 1;
    while (to < count && to - from < most && (end[to] - first[from]) * rowBytes <= STRIP_BYTES) to++;
    strips.push({ from, to, firstRow: first[from], endRow: end[to - 1] });
    from = to;
  }
  return strips;
}

/** Address of the job. */
export const JOB = 16;

/** Writes the job and its tables. */
export function writeJob(
  buffer: ArrayBuffer,
  image: CheckedImage,
  rule: CheckedRule,
  layout: JobLayout,
): void {
  const { resampling, x } = layout;
  const { columns, rows, kind, block } = resampling;
  const i32 = new Int32Array(buffer);
  const f32 = new Float32Array(buffer);
  const job = JOB >> 2;
  const shifts = image.format.startsWith("bgr") === (rule.order === "BGR") ? [0, 8, 16] : [16, 8, 0];
  const words: readonly (readonly [number, number])[] = [
    [A.J_FORMAT, FORMATS[image.format]],
    [A.J_SOURCE, layout.source],
    [A.J_SOURCE_STRIDE, image.stride],
    [A.J_U, layout.u],
    [A.J_V, layout.v],
    [A.J_CHROMA_STRIDE, chromaStrideOf(image.format, image.stride)],
    [A.J_COLUMNS, image.width],
    [A.J_PIXELS, layout.pixels],
    [A.J_PIXEL_STRIDE, layout.pixelStride],
    [A.J_KIND, kind],
    [A.J_WIDTH, x.count],
    [A.J_XTAB, layout.columnTable],
    [A.J_YTAB, layout.rowTable],
    [A.J_XWEIGHTS, layout.columnWeights],
    [A.J_XTAPS, columns.taps],
    [A.J_YWEIGHTS, layout.rowWeights],
    [A.J_YTAPS, rows.taps],
    [A.J_BLOCK_X, block[0]],
    [A.J_BLOCK_Y, block[1]],
    [A.J_SCRATCH, layout.scratch],
    [A.J_RESAMPLED, layout.resampled],
    [A.J_TYPE, PICTURE_ELEMENTS[rule.type].log],
    [A.J_OUT_ROW, layout.outRow],
    [A.J_OUT_PLANE, layout.outPlane],
    [A.J_VALUES, layout.values],
    [A.J_MULTIPLIES, rule.multiplies ? 1 : 0],
  ];
  for (const [word, value] of words) i32[job + word] = value;
  i32.set(shifts, job + A.J_SHIFT_0);
  f32[job + A.J_BLOCK_SCALE] = 1 / (block[0] * block[1]);
  f32.set(rule.mean, job + A.J_MEAN_0);
  f32.set(rule.divisor, job + A.J_DIVISOR_0);
  writeTables(buffer, layout);
  const values = valuesIn(buffer, rule, layout);
  const { elementOf } = PICTURE_ELEMENTS[rule.type];
  for (let channel = 0; channel < 3; channel++)
    for (let byte = 0; byte < 256; byte++)
      values[256 * channel + byte] = elementOf(valueOf(byte, channel, rule), rule);
  i32[job + A.J_FLIP] = flipOf(values);
}

/** Returns the byte `flip` if the element of every byte b is `b ^ flip`. Returns 256 if there is no such byte. */
function flipOf(values: PreparedData): number {
  const flip = values[0] & 255;
  return values.every((element, i) => (element & 255) === ((i & 255) ^ flip)) ? flip : 256;
}

/** Returns the table of elements for all byte values, 256 for each channel. */
const valuesIn = (buffer: ArrayBuffer, { type }: CheckedRule, { values }: JobLayout): PreparedData =>
  new PICTURE_ELEMENTS[type].array(buffer, values, 3 * 256);

function writeTables(buffer: ArrayBuffer, layout: JobLayout): void {
  const { resampling, x, y, columnTable, rowTable, columnWeights, rowWeights } = layout;
  const { kind, rows } = resampling;
  const isLinear = kind === A.KIND_LINEAR;
  const columns = isLinear ? edgeColumns(resampling.columns) : resampling.columns;
  const i32 = new Int32Array(buffer);
  const hasCounts = kind === A.KIND_AREA || kind === A.KIND_TAPS;
  for (let i = 0, at = columnTable >> 2; i < x.count; i++) {
    i32[at++] = columns.first[i] << 2;
    if (isLinear) i32[at++] = columns.weights[i];
    else if (hasCounts) i32[at++] = columns.end[i] - columns.first[i];
  }
  for (let i = 0, at = rowTable >> 2; i < y.count; i++) {
    i32[at++] = rows.first[i];
    if (isLinear) {
      i32[at++] = rows.end[i] - 1;
      i32[at++] = rows.weights[i];
    } else if (hasCounts) i32[at++] = rows.end[i] - rows.first[i];
  }
  if (!hasCounts) return;
  for (const [table, address] of [
    [columns, columnWeights],
    [rows, rowWeights],
  ] as const)
    if (table.weights instanceof Float32Array) new Float32Array(buffer).set(table.weights, address >> 2);
    else i32.set(table.weights, address >> 2);
}
