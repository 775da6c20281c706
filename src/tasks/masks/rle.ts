/** Run lengths of a mask in COCO's format: column by column over the whole picture, zeros first. */
import type { Mask, MaskRle } from "../../decode/mask.ts";

/** Returns the run lengths of a mask in its picture: zeros and ones in turn, zeros first. */
export function runsOf({
  x,
  y,
  width,
  height,
  data,
  size,
}: Omit<Mask, "toRle" | "toPolygons" | "toBits">): number[] {
  const [pictureWidth, pictureHeight] = size;
  const runs: number[] = [];
  let value = 0;
  let length = 0;
  const add = (pixel: number, count: number): void => {
    if (count === 0) return;
    if (pixel !== value) {
      runs.push(length);
      value = pixel;
      length = 0;
    }
    length += count;
  };
  if (width > 0 && height > 0) {
    add(0, x * pictureHeight);
    for (let column = 0; column < width; column++) {
      add(0, y);
      for (let row = 0, at = column; row < height; row++, at += width) {
        if (data[at] !== value) {
          runs.push(length);
          value = data[at];
          length = 0;
        }
        length++;
      }
      add(0, pictureHeight - y - height);
    }
    add(0, (pictureWidth - x - width) * pictureHeight);
  } else length = pictureWidth * pictureHeight;
  runs.push(length);
  return runs;
}

/**
 * Returns run lengths as COCO's text. From the fourth run on, stores the difference to the run two places before.
 * Splits a value into groups of five bits, the lowest first. Bit 5 is set if another group follows. Adds 48 to make a
 * printable character.
 */
export function textOfRuns(runs: readonly number[]): string {
  let text = "";
  for (let i = 0; i < runs.length; i++) {
    let rest = i > 2 ? runs[i] - runs[i - 2] : runs[i];
    let isLast = false;
    while (!isLast) {
      const five = rest & 31;
      rest >>= 5;
      // Stop only when the highest of the five bits equals the sign of the value: the reader takes the sign from it.
      isLast = five & 16 ? rest === -1 : rest === 0;
      text += String.fromCharCode(48 + (isLast ? five : five | 32));
    }
  }
  return text;
}

/** Returns a mask in COCO's format. */
export const rleOf = (mask: Omit<Mask, "toRle" | "toPolygons" | "toBits">): MaskRle => ({
  size: [mask.size[1], mask.size[0]],
  counts: textOfRuns(runsOf(mask)),
});
