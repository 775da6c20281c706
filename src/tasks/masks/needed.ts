/** Finds the pixels of a label map that a mask can still change. Other pixels of the mask are not computed. */
import { type Axis, type Span, pixelsThatRead } from "./axis.ts";
import type { MaskSpace } from "./space.ts";
import type { CellWindow } from "./source.ts";

/** The pixels of a picture that have no label yet. Each row has one range that contains all of them. */
export class FreePixels {
  /** First pixel without a label in each row. */
  readonly from: Int32Array;
  /** End of each row's range. */
  readonly to: Int32Array;
  private readonly labels: Int16Array;
  private readonly width: number;

  /** @param labels the picture, row by row; -1 is free */
  constructor(labels: Int16Array, width: number, height: number) {
    this.labels = labels;
    this.width = width;
    this.from = new Int32Array(height);
    this.to = new Int32Array(height).fill(width);
  }

  /** Shrinks the ranges of the rows from `first` to `end` (excluded): removes pixels with a label at both ends. */
  update(first: number, end: number): void {
    const { from, to, labels, width } = this;
    for (let y = first; y < end; y++) {
      const row = y * width;
      while (from[y] < to[y] && labels[row + from[y]] !== -1) from[y]++;
      while (from[y] < to[y] && labels[row + to[y] - 1] !== -1) to[y]--;
    }
  }
}

/** The pixels of a mask that can be set: those made from at least one positive logit. */
export class SetPixels {
  private readonly space: MaskSpace;
  private readonly pixels: number;
  private readonly window: CellWindow;
  /** Range of the positive cells in each row of the window. Empty if there are none. */
  private readonly cells: readonly Span[];
  /** Last result of `spanAt`: `span` is the range for rows of the picture that read the cell rows `near` and `far`. */
  private near = -1;
  private far = -1;
  private span: Span = { from: 0, to: 0 };

  /** Reads the logits of the window at `space.at.logits`. */
  constructor(space: MaskSpace, xAxis: Axis, window: CellWindow) {
    this.space = space;
    this.pixels = xAxis.pixels;
    this.window = window;
    const width = window.x.to - window.x.from;
    const first = space.at.logits >> 2;
    this.cells = Array.from({ length: window.y.to - window.y.from }, (_, r) => {
      const row = first + r * width;
      let from = 0;
      while (from < width && !(space.f32[row + from] > 0)) from++;
      let to = width;
      while (to > from && !(space.f32[row + to - 1] > 0)) to--;
      return { from: window.x.from + from, to: window.x.from + to };
    });
  }

  /** Returns the range of a row's pixels that can be set. Other pixels are at most 0, since no weight is negative. */
  spanAt(y: number): Span {
    const { rows, columns } = this.space;
    const near = rows.near[y];
    const far = rows.far[y];
    if (near === this.near && far === this.far) return this.span;
    const a = this.cells[near - this.window.y.from];
    const b = this.cells[far - this.window.y.from];
    const from = a.from < a.to ? (b.from < b.to ? Math.min(a.from, b.from) : a.from) : b.from;
    const to = a.from < a.to ? (b.from < b.to ? Math.max(a.to, b.to) : a.to) : b.to;
    this.near = near;
    this.far = far;
    this.span = pixelsThatRead(columns, this.pixels, { from, to });
    return this.span;
  }
}
