/** The tensor of the whole frame: YOLOv8 at 0.25, with its right answer in pixels of the picture. */
import { makeWorkload, WORKLOADS, type Workload } from "../workloads.ts";
import type { PictureBox, PictureSpec } from "./picture.ts";

/** Returns the workload whose tensor stands for the network's output. */
export const frameWorkload = (): Workload => makeWorkload(WORKLOADS[0]);

/** Returns scale and pads of a letterbox, rounded to whole pixels. */
export function placeOf({ width, height, side }: PictureSpec): { scale: number; left: number; top: number } {
  const scale = Math.min(side / width, side / height);
  const pad = (size: number): number => Math.floor((side - Math.round(size * scale)) / 2);
  return { scale, left: pad(width), top: pad(height) };
}

/** Converts a box of the input (corners in 0..1) to pixels of the picture. */
export function toPicture(spec: PictureSpec, corners: ArrayLike<number>): number[] {
  const { width, height, side } = spec;
  const { scale, left, top } = placeOf(spec);
  return Array.from(corners, (corner, i) => {
    const [pad, size] = i % 2 === 0 ? [left, width] : [top, height];
    return Math.min(size, Math.max(0, (corner * side - pad) / scale));
  });
}

interface Columns {
  readonly count: number;
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number>;
}

/** Converts detections of the input to boxes of the picture. */
export const pictureBoxes = (spec: PictureSpec, { count, boxes, scores, classIds }: Columns): PictureBox[] =>
  Array.from({ length: count }, (_, i) => [
    classIds[i],
    scores[i],
    ...toPicture(
      spec,
      Array.from({ length: 4 }, (_, side) => boxes[4 * i + side]),
    ),
  ]);
