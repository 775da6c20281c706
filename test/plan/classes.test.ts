/** Lists with an entry per class: which class the first entry belongs to, with a background and without. */
import { expect, test } from "vitest";
import { isPerClass, keepIds, labelsOf, listStart } from "../../src/plan/classes.ts";
import { readConfig } from "../../src/config/config.ts";

type Fields = Parameters<typeof listStart>[0];

/** A network of so many class ids whose scores begin at `first`. */
const network = (classes: number, first = 0, more: object = {}): Fields =>
  ({
    family: "ssd",
    classes,
    heads: [{ classId: null, classBase: first }],
    rules: { countBackground: true },
    backgroundLast: false,
    ...more,
  }) as unknown as Fields;

const uncounted = { rules: { countBackground: false } };

test.each<[string, Fields, number, number]>([
  ["one entry per class", network(3), 3, 0],
  ["the background is counted, and the list names it", network(4, 1), 4, 0],
  ["the background is counted, and the list leaves it out", network(4, 1), 3, 1],
  ["the background is not counted, and the list names it", network(3, 0, uncounted), 4, -1],
  ["the background is not counted, and the list leaves it out", network(3, 0, uncounted), 3, 0],
])("%s", (_, fields, length, start) => {
  expect(listStart(fields, length)).toBe(start);
  expect(isPerClass(fields, Array(length))).toBe(true);
});

test("a list of another length has no entry per class", () => {
  expect(isPerClass(network(3), Array(4))).toBe(false);
  expect(isPerClass(network(3), Array(2))).toBe(false);
  expect(isPerClass(network(3, 0, { backgroundLast: true }), Array(4))).toBe(true);
});

test("labels by class id", () => {
  expect(labelsOf(network(3, 1), ["cat", "dog"])).toEqual(["background", "cat", "dog"]);
  expect(labelsOf(network(2, 0, uncounted), ["nothing", "cat", "dog"])).toEqual(["cat", "dog"]);
  expect(labelsOf(network(2), null)).toBeNull();
  const hands = network(2, 0, { task: { labels: ["left", "right"] } });
  expect(labelsOf(hands, null)).toEqual(["left", "right"]);
  expect(keepIds(readConfig({ family: "hand-landmarks" }, {}), ["right"], hands)).toEqual([1]);
});

test("keep as class ids: sorted, each once, names by their labels", () => {
  const config = readConfig({ family: "ssd", labels: ["cat", "dog"] }, {});
  expect(keepIds(config, ["dog", 1, "cat", 2], network(3, 1))).toEqual([1, 2]);
  expect(() => keepIds(config, ["cow"], network(3, 1))).toThrow(
    'keep: got "cow", expected one of the labels',
  );
  expect(() => keepIds(config, [0], network(3, 1))).toThrow(
    "keep: got only the background, which is never detected, expected class ids in 1..2",
  );
  expect(() => keepIds(config, [3], network(3, 1))).toThrow("keep: got class 3, expected class ids in 0..2");
});
