/** Makes the channel of a gray input tensor. */
import type { PreparedData } from "../../decode/prepare.ts";
import type { CheckedRule } from "./rule.ts";
import { PICTURE_ELEMENTS, valueOf } from "./values.ts";

/** Weights of red, green and blue in steps of 2^-15, as `cv2.cvtColor` of OpenCV 4 has them for bytes. */
const WEIGHTS = [9798, 19235, 3735] as const;
const STEPS = 15;
const HALF = 1 << (STEPS - 1);

/** Returns a setting for gray: the weighted sum of the setting's three channels. */
const grayOf = ([red, green, blue]: readonly number[]): number =>
  red === green && green === blue
    ? red
    : (red * WEIGHTS[0] + green * WEIGHTS[1] + blue * WEIGHTS[2]) / (1 << STEPS);

/**
 * Writes the gray elements of a picture of RGB bytes.
 * @param placed left, top, width and height of the picture in the input. The rest is padding, which may have fractions
 */
export function writeGray(
  rgb: PreparedData,
  rule: CheckedRule,
  elements: PreparedData,
  [left, top, width, height]: readonly number[],
): void {
  const gray = { ...rule, mean: [grayOf(rule.mean)], divisor: [grayOf(rule.divisor)] };
  const { elementOf } = PICTURE_ELEMENTS[rule.type];
  const table = Array.from({ length: 256 }, (_, byte) => elementOf(valueOf(byte, 0, gray), gray));
  elements.fill(elementOf(valueOf(grayOf(rule.pad), 0, gray), gray));
  for (let y = top; y < top + height; y++)
    for (let x = left; x < left + width; x++) {
      const i = y * rule.size[0] + x;
      const sum = rgb[3 * i] * WEIGHTS[0] + rgb[3 * i + 1] * WEIGHTS[1] + rgb[3 * i + 2] * WEIGHTS[2];
      elements[i] = table[(sum + HALF) >> STEPS];
    }
}
