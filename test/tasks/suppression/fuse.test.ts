/** Weighted boxes fusion: what the published answers leave open. */
import { expect, test } from "vitest";
import { fuse } from "../../../src/entries/index.ts";

test("a box between two fused boxes, equally far from both, joins the better one", () => {
  const { members } = fuse(
    [
      { boxes: [0, 0, 10, 10], scores: [0.9] },
      { boxes: [8, 0, 18, 10], scores: [0.8] },
      { boxes: [4, 0, 14, 10], scores: [0.1] },
    ],
    { iouThreshold: 0.3 },
  );
  expect(members.map((list) => list.map(([model]) => model)).sort()).toEqual([[0, 2], [1]]);
});

test("a normalised box of the whole picture beside boxes in pixels is refused", () => {
  const whole = { boxes: [0, 0, 1, 1], scores: [0.9] };
  const pixels = { boxes: [0, 0, 300, 200], scores: [0.8] };
  for (const models of [
    [whole, pixels],
    [pixels, whole],
  ])
    expect(() => fuse(models)).toThrow(
      /no coordinate above 1 beside models in pixels, expected boxes of all models/,
    );
});
