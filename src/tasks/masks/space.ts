/** A space is the memory in which masks are made. All decoders share one per engine, since masks are copied out. */
import * as M from "../../core/masks-abi.ts";
import { checkSize } from "../../core/memory.ts";
import type { EngineName } from "../../core/engine-name.ts";
import { makeMasksEngine } from "../../engine/masks-engine.ts";
import type { MasksEngine } from "../../engine/masks.ts";
import { type Axis, type Table, fillBilinear, fillNearest } from "./axis.ts";

/** Sizes for which a space must have room. */
export interface Needs {
  /** Byte length of the prototypes; 0 if the prototypes are in a decoder's memory. */
  readonly prototypes: number;
  readonly coefficients: number;
  readonly cells: number;
  /** Width and height of the picture. */
  readonly size: readonly [number, number];
  /** Pixel count of a label map. */
  readonly map: number;
}

/** Bytes of a strip. Masks are made in strips that still are in the L1 cache when they are copied out. */
export const STRIP_BYTES = 1 << 15;
/** Address of the job (core/masks-abi.ts), which comes first in a space. */
const JOB = 16;
/** Spare bytes after each table and buffer, because vector instructions write past the last element. */
const SLACK = 64;

/** Addresses in a space. */
interface Places {
  readonly coefficients: number;
  readonly logits: number;
  readonly columns: number;
  readonly rows: number;
  readonly scratch: number;
  readonly strip: number;
  readonly map: number;
  readonly prototypes: number;
}

/** The memory of one engine, with room for the masks of a picture. */
export class MaskSpace {
  readonly engine: MasksEngine;
  readonly job = JOB;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly u8: Uint8Array<ArrayBuffer>;
  readonly at: Places;
  readonly columns: Table;
  readonly rows: Table;
  /** `place` of the prototypes that are in the space. */
  held: object | null = null;
  readonly #room: Needs;
  /** Bytes of one array of each resize table: of the columns, of the rows. A table consists of four arrays. */
  readonly #arrayBytes: readonly [number, number];
  /** Interpolation and axes for which the tables are filled. */
  #resize: "nearest" | "bilinear" | null = null;
  #axes: readonly Axis[] = [];

  constructor(wanted: EngineName | "auto", room: Needs) {
    this.#room = room;
    const [width, height] = room.size;
    // Returns the bytes for pixels of four bytes each, in whole vectors of 16 bytes.
    const bytesFor = (pixels: number): number => Math.ceil(pixels / 4) * 16;
    this.#arrayBytes = [bytesFor(width), bytesFor(height)];
    let end = JOB + 4 * M.MASK_JOB_WORDS;
    const take = (bytes: number): number => {
      const here = Math.ceil(end / 16) * 16;
      end = here + bytes + SLACK;
      return here;
    };
    this.at = {
      coefficients: take(4 * room.coefficients),
      logits: take(4 * room.cells),
      columns: take(4 * this.#arrayBytes[0]),
      rows: take(4 * this.#arrayBytes[1]),
      // Two rows of f32. Each has room for a vector past its end.
      scratch: take(2 * (this.#arrayBytes[0] + SLACK)),
      // A strip has at least one row, so it may exceed STRIP_BYTES. A mask at prototype size is one strip.
      strip: take(Math.max(STRIP_BYTES + width, room.cells)),
      map: take(2 * room.map),
      prototypes: take(room.prototypes),
    };
    checkSize(end, RangeError);
    this.engine = makeMasksEngine(wanted, end);
    const { buffer } = this.engine;
    this.i32 = new Int32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.u8 = new Uint8Array(buffer);
    this.columns = tableIn(buffer, this.at.columns, this.#arrayBytes[0]);
    this.rows = tableIn(buffer, this.at.rows, this.#arrayBytes[1]);
    const words = this.i32;
    words[(JOB >> 2) + M.M_COLUMNS_SIZE] = this.#arrayBytes[0];
    words[(JOB >> 2) + M.M_ROWS_SIZE] = this.#arrayBytes[1];
    words[(JOB >> 2) + M.M_SCRATCH] = this.at.scratch;
    words[(JOB >> 2) + M.M_SCRATCH_ROW] = this.#arrayBytes[0] + SLACK;
  }

  /** True if the space has enough room. */
  fits(needs: Needs): boolean {
    const room = this.#room;
    return (
      needs.prototypes <= room.prototypes &&
      needs.coefficients <= room.coefficients &&
      needs.cells <= room.cells &&
      needs.size[0] <= room.size[0] &&
      needs.size[1] <= room.size[1] &&
      needs.map <= room.map
    );
  }

  /** Returns the sizes of this space, enlarged to the given needs. */
  enlargedBy(needs: Needs): Needs {
    const room = this.#room;
    return {
      prototypes: Math.max(needs.prototypes, room.prototypes),
      coefficients: Math.max(needs.coefficients, room.coefficients),
      cells: Math.max(needs.cells, room.cells),
      size: [Math.max(needs.size[0], room.size[0]), Math.max(needs.size[1], room.size[1])],
      map: Math.max(needs.map, room.map),
    };
  }

  /** Fills the resize tables for a picture, unless they are already filled for it. */
  makeTables(resize: "nearest" | "bilinear", axes: readonly [Axis, Axis]): void {
    if (resize === this.#resize && axes.every((axis, k) => isSame(axis, this.#axes[k]))) return;
    const [x, y] = axes;
    const fill = resize === "nearest" ? fillNearest : fillBilinear;
    fill(x, this.columns);
    fill(y, this.rows);
    this.#resize = resize;
    this.#axes = axes;
  }

  /** Returns the row count of a strip for a mask of the given width. */
  stripRows(width: number): number {
    return Math.max(1, Math.floor(STRIP_BYTES / width));
  }
}

const isSame = (a: Axis, b: Axis): boolean =>
  a.pixels === b.pixels &&
  a.start === b.start &&
  a.length === b.length &&
  a.low === b.low &&
  a.high === b.high;

/** Returns the views of a resize table at an address: four adjacent arrays of `bytes` bytes. */
const tableIn = (buffer: ArrayBuffer, at: number, bytes: number): Table => ({
  near: new Int32Array(buffer, at, bytes >> 2),
  far: new Int32Array(buffer, at + bytes, bytes >> 2),
  nearWeights: new Float32Array(buffer, at + 2 * bytes, bytes >> 2),
  farWeights: new Float32Array(buffer, at + 3 * bytes, bytes >> 2),
});

const spaces = new Map<EngineName | "auto", MaskSpace>();

/** Returns the space of an engine. Replaces the space by a larger one if it is too small. */
export function spaceFor(wanted: EngineName | "auto", needs: Needs): MaskSpace {
  const before = spaces.get(wanted);
  if (before?.fits(needs)) return before;
  const space = new MaskSpace(wanted, before ? before.enlargedBy(needs) : needs);
  spaces.set(wanted, space);
  return space;
}
