/** Makes the channel of a gray input tensor. */
import type { PreparedData } from "../../decode/prepare.ts";
import type { CheckedRule } from "./rule.ts";
import { PICTURE_ELEMENTS, valueOf } from "./values.ts";

/** Weights of red, green and blue in steps of 2^-14, those of `cv2.cvtColor` for bytes. */
const WEIGHTS = [4899, 9617, 1868] as const;
const STEPS = 14;
const HALF = 1 << (STEPS - 1);

/** Returns the weighted sum of a setting's three channels, the setting for gray. */
const grayOf = ([red, green, blue]: readonly number[]): number =>
  red === green && green === blue
    ? red
    : (red * WEIGHTS[0] + green * WEIGHTS[1] + blue * WEIGHTS[2]) / (1 << STEPS);

/** Writes the gray elements of a picture of RGB bytes. */
export function writeGray(rgb: PreparedData, rule: CheckedRule, elements: PreparedData): void {
  const gray = { ...rule, mean: [grayOf(rule.mean)], divisor: [grayOf(rule.divisor)] };
  const { elementOf } = PICTURE_ELEMENTS[rule.type];
  const table = Array.from({ length: 256 }, (_, byte) => elementOf(valueOf(byte, 0, gray), gray));
  for (let i = 0, p = 0; i < elements.length; i++, p += 3) {
    const sum = rgb[p] * WEIGHTS[0] + rgb[p + 1] * WEIGHTS[1] + rgb[p + 2] * WEIGHTS[2];
    elements[i] = table[(sum + HALF) >> STEPS];
  }
}
