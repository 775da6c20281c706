/** Calls that would give wrong rows without a word: texts as numbers, degrees, boxes in 0..1, results that are gone. */
import { describe, expect, test } from "vitest";
import {
  type OrientedBox,
  cornersOf,
  createDecoderSync,
  fitCorners,
  fuse,
  nms as greedyNms,
  nmsOriented,
  orientedIou,
  regularise,
  suppress,
} from "../../../src/entries/index.ts";

/** Indices of what a method leaves. */
const nms = (...of: Parameters<typeof suppress>): Int32Array => suppress(...of).indices;

const BOXES = [0, 0, 10, 10, 2, 0, 12, 10, 20, 0, 30, 10];
const SCORES = [0.9, 0.8, 0.7];

describe("elements", () => {
  test.each<readonly [name: string, args: readonly unknown[], message: string]>([
    ["scores that are texts", [BOXES, [".9", ".8", ".7"]], 'scores[0]: got ".9", expected a number'],
    ["scores that are null", [BOXES, [0.9, null, 0.7]], "scores[1]: got null, expected a number"],
    ["boxes that are texts", [BOXES.map(String), SCORES], 'boxes[0]: got "0", expected a number'],
    [
      "fractions as ids",
      [BOXES, SCORES, { classIds: [0, 1.5, 1] }],
      "classIds[1]: got 1.5, expected a whole",
    ],
    ["NaN as an id", [BOXES, SCORES, { classIds: [0, NaN, 1] }], "classIds[1]: got NaN, expected a whole"],
    ["2^32 as an id", [BOXES, SCORES, { classIds: [2 ** 32, 0, 1] }], "classIds[0]: got 4294967296"],
    [
      "names as ids",
      [BOXES, SCORES, { classIds: ["a", "b", "c"] }],
      'classIds[0]: got "a", expected a whole',
    ],
  ])("%s", (_, args, message) => {
    const of = args as unknown as Parameters<typeof suppress>;
    expect(() => suppress(...of)).toThrow(message);
    expect(() => nms(...of)).toThrow(message);
    const [boxes, scores, { classIds } = {}] = of;
    expect(() => fuse([{ boxes, scores, ...(classIds && { classIds }) }])).toThrow(message);
  });

  test("NaN leaves a box out, as documented", () => {
    expect([...nms([NaN, ...BOXES.slice(1)], SCORES)]).toEqual([1, 2]);
    expect([...nms(BOXES, [NaN, 0.8, 0.7])]).toEqual([1, 2]);
  });
});

test.each(["xywh", "cxcywh"] as const)("most sizes of %s are negative", (boxFormat) => {
  const message = "boxes: got 2 of 3 boxes with a negative width or height, expected sizes, as boxFormat";
  const boxes = [0, 0, -10, 10, 2, 0, 12, -10, 20, 0, 30, 10];
  expect(() => suppress(boxes, SCORES, { boxFormat })).toThrow(message);
  expect(() => greedyNms(boxes, SCORES, { boxFormat })).toThrow(message);
  // One of three may be a slip of the network.
  expect(nms([0, 0, -10, 10, ...BOXES.slice(4)], SCORES, { boxFormat }).length).toBeGreaterThan(0);
});

describe("negative scores", () => {
  const logits = [-1, 2, -3];
  const multiply = ["soft-linear", "soft-gaussian", "matrix", "weighted", "merge", "nmw"] as const;

  test.each(multiply)("%s would raise them, or weigh boxes by them", (method) => {
    expect(() => suppress(BOXES, logits, { method })).toThrow(
      `scores[2]: got -3 for "${method}", which multiplies scores, expected scores from 0 up: apply the sigmoid`,
    );
    expect([...suppress(BOXES, logits, { method, scoreThreshold: 0 }).indices]).toEqual([1]);
    expect(suppress([], [], { method }).indices).toHaveLength(0);
  });

  test.each(["hard", "fast", "diou"] as const)("%s only compares them", (method) => {
    expect([...suppress(BOXES, logits, { method }).indices]).toEqual([1, 2]);
  });
});

describe("fuse", () => {
  const one = { boxes: BOXES, scores: SCORES };

  test("one array for two models: the second decode() overwrote the first", () => {
    const decoder = createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
    const decode = (x: number) =>
      decoder.decode({
        boxes: { data: [x, 0, x + 0.5, 0.5], dims: [1, 1, 4] },
        scores: { data: [0.75], dims: [1, 1, 1] },
      });
    const of = ({ boxes, scores, length }: ReturnType<typeof decode>) => ({
      boxes: boxes.subarray(0, 4 * length),
      scores: scores.subarray(0, length),
    });
    const same = decode(0).boxes;
    expect(() =>
      fuse([
        { boxes: same, scores: new Float32Array(300) },
        { boxes: decode(0.1).boxes, scores: new Float32Array(300) },
      ]),
    ).toThrow("models[1].boxes: got the array of models[0], expected arrays of its own");
    // Two views of the same memory are one array too.
    expect(() => fuse([of(decode(0)), of(decode(0.1))])).toThrow(
      "models[1].boxes: got the array of models[0]",
    );
    expect(fuse([of(decode(0).copy()), of(decode(0.1))]).boxes).toHaveLength(4);
  });

  test("class ids of one model alone", () => {
    expect(() =>
      fuse([
        { ...one, classIds: [0, 1, 2] },
        { ...one, boxes: [...BOXES] },
      ]),
    ).toThrow(
      "models[1].classIds: got undefined, and models[0] has some, expected class ids of all models or of none",
    );
    // A model that found nothing says nothing.
    expect(
      fuse([
        { ...one, classIds: [0, 1, 2] },
        { boxes: [], scores: [] },
      ]).scores,
    ).toHaveLength(3);
  });

  test("pixels beside 0..1", () => {
    expect(() => fuse([one, { boxes: BOXES.map((v) => v / 100), scores: SCORES }])).toThrow(
      "models[1].boxes: got no coordinate above 0.3 beside models in pixels",
    );
  });
});

describe("oriented boxes", () => {
  const box: OrientedBox = [50, 50, 40, 10, 0.5];

  test("degrees", () => {
    const rows = [50, 50, 40, 10, 45, 50, 50, 40, 10, 44];
    expect(() => nmsOriented(rows, [0.9, 0.8])).toThrow(
      "boxes: got 2 of 2 angles beyond two turns, expected radians, not degrees",
    );
    expect(() => orientedIou([50, 50, 40, 10, 45], [50, 50, 40, 10, 44], "polygon")).toThrow("radians");
    // YOLO26 gives any angle: a single one far away is none of degrees.
    expect(nmsOriented([...box, 90, 90, 9, 9, 0, 20, 20, 9, 9, 13], [0.9, 0.8, 0.7])).toHaveLength(3);
  });

  test("boxes in 0..1, which ProbIoU takes for equal", () => {
    const small = [0.5, 0.5, 0.01, 0.01, 0, 0.505, 0.5, 0.01, 0.01, 0];
    expect(() => nmsOriented(small, [0.9, 0.8])).toThrow(
      "boxes: got no coordinate above 0.505, expected boxes in pixels: ProbIoU adds a constant",
    );
    expect(nmsOriented(small, [0.9, 0.8], { iou: "polygon", iouThreshold: 0.3 })).toHaveLength(1);
    expect(nmsOriented(small, [0.9, 0.8], { iou: "polygon", iouThreshold: 0.4 })).toHaveLength(2);
    // Boxes near the corner of a picture in pixels are measured well.
    expect(nmsOriented([0.5, 0.5, 1, 1, 0], [0.9])).toHaveLength(1);
  });

  test("corners as centre and size", () => {
    expect(() => nmsOriented([50, 50, -40, 10, 0], [0.9])).toThrow(
      "box 0: got width -40, height 10, expected centre x, centre y, width, height, angle: no corners",
    );
  });

  test.each([NaN, Infinity, "1", null])("%j among the numbers", (bad) => {
    const broken = [...box.slice(0, 4), bad] as unknown as OrientedBox;
    expect(() => cornersOf(broken)).toThrow("expected [cx, cy, width, height, angle], finite numbers");
    expect(() => regularise(broken)).toThrow("expected [cx, cy, width, height, angle], finite numbers");
    expect(() => orientedIou(box, broken, "polygon")).toThrow("b: got [50,50,40,10,");
    const corners = cornersOf(box);
    corners[2][1] = bad as number;
    expect(() => fitCorners(corners)).toThrow("expected four corners [x, y], finite numbers");
  });
});
