/** Detections are no array: an index is refused, by the compiler and at run time. */
import { expect, test } from "vitest";
import { createDecoderSync, nms, nmsOriented, suppress } from "../../src/entries/index.ts";

const outputs = { boxes: { data: [0, 0, 0.5, 0.5], dims: [1, 1, 4] }, scores: { data: [0.9], dims: [1, 1] } };
const decode = () =>
  createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" }).decode(outputs);

test("an index is refused with what to call", () => {
  const found = decode();
  // @ts-expect-error a row has no label for the compiler: it names RowsAreReadByAt
  expect(() => found[0].label).toThrow(/got an index, expected at\(0\), toArray\(\)\[0\] or a loop/);
  expect(() => found.copy()[0]).toThrow(TypeError);
});

test.each([1, 299, -1])("index %i is refused too, to read and to write", (index) => {
  for (const found of [decode(), decode().copy()]) {
    expect(() => found[index]).toThrow(
      `detections[${index}]: got an index, expected at(${index}), toArray()[${index}] or a loop`,
    );
    expect(() => ((found as unknown as unknown[])[index] = 5)).toThrow(/got a new row/);
  }
});

test("length is set by decoders alone", () => {
  for (const found of [decode(), decode().copy()]) {
    expect(() => ((found as { length: number }).length = 5)).toThrow(
      /^detections\.length: got 5, expected no change/,
    );
    expect(found.length).toBe(1);
    expect(Object.keys(found)).toContain("length");
  }
});

test.each(["map", "filter", "find", "forEach"] as const)(
  "%s of arrays is refused with what to call",
  (name) => {
    for (const found of [decode(), decode().copy()])
      expect(() => found[name]).toThrow(
        new TypeError(
          `detections.${name}: got a method of arrays, expected toArray().${name} or a loop: detections are no array`,
        ),
      );
  },
);

test.each([["0"], [undefined], [null], [{}]])("at(%s) is refused", (index) => {
  expect(() => decode().at(index as never)).toThrow(/^at: got .*, expected the index of a row, a number$/);
});

test("functions of lists name the columns to pass", () => {
  const found = decode();
  const columns = "got detections, expected their columns: detections.boxes, detections.scores";
  for (const given of [found, found.copy(), structuredClone(found)])
    for (const call of [nms, suppress, nmsOriented] as ((...lists: unknown[]) => unknown)[]) {
      expect(() => call(given)).toThrow(new RangeError(`boxes: ${columns}`));
      expect(() => call(found.boxes, given)).toThrow(new RangeError(`scores: ${columns}`));
    }
  expect([...nms(found.boxes, found.scores)]).toEqual([0]);
});

test("everything that copies, prints or compares leaves it alone", () => {
  const found = decode();
  expect(JSON.parse(JSON.stringify(found))).toHaveLength(1);
  expect(structuredClone(found).length).toBe(1);
  expect({ ...found }.scores[0]).toBeCloseTo(0.9);
  expect(found.copy()).toEqual(found.copy());
  expect(Object.keys(found)).not.toContain("0");
  const [first] = found;
  expect(first.confidence).toBeCloseTo(0.9);
});
