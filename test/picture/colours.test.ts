import { expect, test } from "vitest";
import { HALO, colourOf } from "../../src/picture/colours.ts";
import { rgb } from "../support/pictures.ts";

const colours = Array.from({ length: 20 }, (_, id) => colourOf(id));

const linear = (value: number): number =>
  value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;

/** OKLab of an sRGB colour, by the matrices that Björn Ottosson published. */
function oklab(colour: string): number[] {
  const [r, g, b] = rgb(colour).map(linear);
  const [l, m, s] = [
    0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
    0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
    0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
  ].map(Math.cbrt);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** Contrast ratio of WCAG between two grey or coloured lights, as sRGB values. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const [low, high] = [a, b]
    .map((c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]))
    .sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test("any two colours can be told apart", () => {
  expect(new Set(colours).size).toBe(20);
  for (const [i, a] of colours.entries())
    for (const b of colours.slice(0, i)) {
      const [p, q] = [oklab(a), oklab(b)];
      expect(Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]), `${a} and ${b}`).toBeGreaterThan(0.12);
    }
});

test("a line stands out from pictures of any grey, by its colour or by the dark line beneath", () => {
  for (let grey = 0; grey < 256; grey++) {
    const picture = [grey, grey, grey];
    const halo = picture.map((value) => value * (1 - HALO.opacity));
    for (const colour of colours) {
      const line = rgb(colour);
      const best = Math.max(contrast(line, picture), contrast(halo, picture), contrast(line, halo));
      expect(best, `${colour} on grey ${grey}`).toBeGreaterThan(2.2);
    }
    if (grey < 40) for (const colour of colours) expect(contrast(rgb(colour), picture)).toBeGreaterThan(3);
  }
});
