/** The comparison of two versions, counted by hand. */
import { describe, expect, it } from "vitest";
import { compareFound, disagreementOf, overlapOf, type Found } from "../../src/shadow/compare.ts";

const boxOf = (x: number, y: number, size: number, label = "cat", confidence = 0.9): Found => ({
  ...{ class_id: label === "cat" ? 0 : 1, label, confidence },
  ...{ x_min: x, y_min: y, x_max: x + size, y_max: y + size },
});
const countsOf = (old: readonly Found[], next: readonly Found[]) => {
  const { matched, changed, onlyOld, onlyNew } = compareFound(old, next);
  return [matched, changed, onlyOld.length, onlyNew.length];
};

describe("two versions", () => {
  it("overlap by intersection over union", () => {
    // Half of each covers the other: 0.5 / 1.5.
    expect(overlapOf(boxOf(0, 0, 0.2), { ...boxOf(0.1, 0, 0.2) })).toBeCloseTo(1 / 3, 10);
    expect(overlapOf(boxOf(0, 0, 0.2), boxOf(0, 0, 0.1))).toBeCloseTo(0.25, 10);
    expect(overlapOf(boxOf(0, 0, 0.2), boxOf(0.2, 0, 0.2))).toBe(0);
    expect(overlapOf(boxOf(0, 0, 0), boxOf(0, 0, 0))).toBe(0);
    expect(overlapOf({ ...boxOf(0, 0, 0.2), x_min: NaN }, boxOf(0, 0, 0.2))).toBe(0);
  });

  it("agree on boxes of one class from an overlap of a half on", () => {
    // 0.2 wide, moved by d: (0.2 - d) / (0.2 + d) is a half at d = 0.0667.
    expect(countsOf([boxOf(0, 0, 0.2)], [boxOf(0.066, 0, 0.2)])).toEqual([1, 0, 0, 0]);
    expect(countsOf([boxOf(0, 0, 0.2)], [boxOf(0.068, 0, 0.2)])).toEqual([0, 0, 1, 1]);
    expect(countsOf([], [])).toEqual([0, 0, 0, 0]);
    expect(countsOf([boxOf(0, 0, 0.2)], [])).toEqual([0, 0, 1, 0]);
  });

  it("change a class, by the label or else by the id", () => {
    expect(countsOf([boxOf(0, 0, 0.2)], [boxOf(0, 0, 0.2, "dog")])).toEqual([0, 1, 0, 0]);
    const unnamed = { ...boxOf(0, 0, 0.2, ""), class_id: 3 };
    expect(countsOf([unnamed], [{ ...unnamed, class_id: 4 }])).toEqual([0, 1, 0, 0]);
    expect(countsOf([boxOf(0, 0, 0.2)], [{ ...boxOf(0, 0, 0.2), class_id: 9 }])).toEqual([1, 0, 0, 0]);
  });

  it("match each box once, the largest overlap first, those of the same class before the rest", () => {
    const [a, b] = [boxOf(0, 0, 0.2), boxOf(0.03, 0, 0.2)];
    // The equal one of both new boxes goes to a, and b gets the other.
    expect(countsOf([a, b], [a, boxOf(0.04, 0, 0.2)])).toEqual([2, 0, 0, 0]);
    expect(countsOf([a], [b, a])).toEqual([1, 0, 0, 1]);
    expect(compareFound([a], [b, a]).onlyNew).toEqual([b]);
    // The dog lies exactly on the cat; the cat beside it still is the one that matches.
    const compared = compareFound([a], [boxOf(0, 0, 0.2, "dog"), b]);
    expect([compared.matched, compared.changed, disagreementOf(compared)]).toEqual([1, 0, 1]);
  });
});
