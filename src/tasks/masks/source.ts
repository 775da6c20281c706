/** Multiplies coefficients and prototypes. The prototypes are in a decoder's memory, or are copies. */
import * as M from "../../core/masks-abi.ts";
import { TYPE_F16, TYPE_F32, TYPE_I8, TYPE_U8 } from "../../core/abi.ts";
import type { EngineName } from "../../core/engine-name.ts";
import type { MasksEngine } from "../../engine/masks.ts";
import type { Span } from "./axis.ts";
import type { MaskSpace } from "./space.ts";

/** Shape, address steps and quantisation of the prototypes of one image. */
export interface Prototypes {
  readonly type: PrototypeType;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly row: number;
  readonly column: number;
  readonly plane: number;
  /** Scale of quantised values: real = (raw - zeroPoint) * scale. 1 for floats, with a zero point of 0. */
  readonly scale: number;
  readonly zeroPoint: number;
}

export type PrototypeType = "f32" | "f16" | "u8" | "i8";

export const PROTOTYPE_TYPES: {
  readonly [T in PrototypeType]: { readonly code: number; readonly bytes: number };
} = {
  f32: { code: TYPE_F32, bytes: 4 },
  f16: { code: TYPE_F16, bytes: 2 },
  u8: { code: TYPE_U8, bytes: 1 },
  i8: { code: TYPE_I8, bytes: 1 },
};

/** Returns the byte length of the prototypes of an image. */
export const prototypeBytes = ({ type, count, width, height }: Prototypes): number =>
  count * width * height * PROTOTYPE_TYPES[type].bytes;

/** A decoder's memory with the prototypes, scratch that is free between frames, and its engine. */
export interface MaskMemory {
  readonly engine: MasksEngine;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly at: number;
  readonly free: number;
  /** Address after the scratch. */
  readonly freeEnd: number;
}

/** The prototypes of an image: layout, location, and the engine that makes masks from them. */
export interface MaskSource {
  readonly engine: EngineName | "auto";
  readonly prototypes: Prototypes;
  /** True: the source is one row's own map of logits. The box cuts such a map only if the caller names a rule. */
  readonly isMapOfRow?: boolean;
  /** Location of the prototypes: a decoder's memory, or bytes that `writeValues` copies into the space when needed. */
  readonly place: MaskMemory | { readonly bytes: Uint8Array };
  /** Called if a value of a mask is NaN or infinite. Adds a note, or throws. */
  readonly reportNaN: (coefficients: Float32Array) => void;
}

/** A rectangle of cells. */
export interface CellWindow {
  readonly x: Span;
  readonly y: Span;
}

/** Writes a window to `to`, `row` bytes from row to row: probabilities if `sigmoid`, else logits. */
export function writeValues(
  space: MaskSpace,
  { place, prototypes }: MaskSource,
  coefficients: Float32Array,
  { x, y }: CellWindow,
  sigmoid: boolean,
  to: number,
  row: number,
): void {
  const width = x.to - x.from;
  const height = y.to - y.from;
  if (width <= 0 || height <= 0) return;
  const begin = y.from * prototypes.row + x.from * prototypes.column;
  if ("bytes" in place) {
    if (space.held !== place) {
      space.u8.set(place.bytes, space.at.prototypes);
      space.held = place;
    }
    writeJob(space.i32, space.f32, space.job, prototypes, coefficients, space.at.coefficients, {
      width,
      height,
      sigmoid,
      first: space.at.prototypes + begin,
      logits: to,
      row,
    });
    space.engine.product(space.job);
    return;
  }
  // Compute the values in the decoder's memory, as many rows at a time as the scratch holds. Copy them to the space.
  const { engine, i32, f32, at, free, freeEnd } = place;
  const values = align(free + 4 * M.MASK_JOB_WORDS);
  const logits = align(values + 4 * coefficients.length);
  const strip = Math.floor((freeEnd - logits) / (4 * width));
  for (let first = 0; first < height; first += strip) {
    const rows = Math.min(strip, height - first);
    writeJob(i32, f32, free, prototypes, coefficients, values, {
      width,
      height: rows,
      sigmoid,
      first: at + begin + first * prototypes.row,
      logits,
      row: 4 * width,
    });
    engine.product(free);
    for (let r = 0; r < rows; r++) {
      const from = (logits >> 2) + r * width;
      const target = (to + (first + r) * row) >> 2;
      if (row === 4 * width) {
        space.f32.set(f32.subarray(from, from + rows * width), target);
        break;
      }
      space.f32.set(f32.subarray(from, from + width), target);
    }
  }
}

const align = (address: number): number => Math.ceil(address / 16) * 16;

/** True if the scratch has room for the job, the coefficients and at least one row of values. */
export const hasRoom = ({ free, freeEnd }: MaskMemory, { count, width }: Prototypes): boolean =>
  align(align(free + 4 * M.MASK_JOB_WORDS) + 4 * count) + 4 * width <= freeEnd;

/** Writes a `product` job and its coefficients. Callers list the fields of `window`: an object spread takes 1 us. */
function writeJob(
  i32: Int32Array,
  f32: Float32Array,
  job: number,
  prototypes: Prototypes,
  coefficients: Float32Array,
  at: number,
  window: {
    readonly width: number;
    readonly height: number;
    readonly sigmoid: boolean;
    readonly first: number;
    readonly logits: number;
    readonly row: number;
  },
): void {
  const w = job >> 2;
  const { scale } = prototypes;
  // Multiply the scale of the prototypes into the coefficients, which are fewer than the pixels.
  for (let i = 0; i < coefficients.length; i++) f32[(at >> 2) + i] = coefficients[i] * Math.fround(scale);
  i32[w + M.M_TYPE] = PROTOTYPE_TYPES[prototypes.type].code;
  i32[w + M.M_PROTOTYPES] = window.first;
  i32[w + M.M_ROW] = prototypes.row;
  i32[w + M.M_COLUMN] = prototypes.column;
  i32[w + M.M_PLANE] = prototypes.plane;
  i32[w + M.M_COUNT] = coefficients.length;
  i32[w + M.M_COEFFICIENTS] = at;
  f32[w + M.M_ZERO] = prototypes.zeroPoint;
  i32[w + M.M_WIDTH] = window.width;
  i32[w + M.M_HEIGHT] = window.height;
  i32[w + M.M_SIGMOID] = window.sigmoid ? 1 : 0;
  i32[w + M.M_LOGITS] = window.logits;
  i32[w + M.M_LOGITS_ROW] = window.row;
}
