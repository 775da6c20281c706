/** `PixelMask`, the mask that callers receive: pixels, and conversions to other formats. */
import type { Mask, MaskPolygon, MaskRle } from "../../decode/mask.ts";
import { polygonsOf } from "./polygons.ts";
import { rleOf } from "./rle.ts";

/** A mask with its own memory. The next `decode` does not change it. */
export class PixelMask implements Mask {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly size: readonly [number, number];

  constructor(
    x: number,
    y: number,
    width: number,
    height: number,
    size: readonly [number, number],
    data: Uint8Array = new Uint8Array(width * height),
  ) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
    this.data = data;
    this.size = size;
  }

  get area(): number {
    const { data } = this;
    let sum = 0;
    for (let i = 0; i < data.length; i++) sum += data[i];
    return sum;
  }

  toRle(): MaskRle {
    return rleOf(this);
  }

  toPolygons(): MaskPolygon[] {
    return polygonsOf(this);
  }

  toBits(): Uint8Array {
    const { data } = this;
    const bits = new Uint8Array((data.length + 7) >> 3);
    for (let i = 0; i < data.length; i++) bits[i >> 3] |= data[i] << (7 - (i & 7));
    return bits;
  }
}
