/** Networks with queries: which columns of the scores are classes, and which network they are of. */
import { describe, expect, test } from "vitest";
import { COCO80, COCO91, createDecoderSync } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import type { TensorError } from "../../src/core/errors.ts";

const QUERIES = 12;

/** Returns logits of -5, and 2 in these columns of query 3. */
function logitsOf(columns: number, ...high: readonly number[]) {
  const data = new Float32Array(QUERIES * columns).fill(-5);
  for (const column of high) data[3 * columns + column] = 2;
  return { data, dims: [1, QUERIES, columns] };
}
const boxes = { data: new Float32Array(QUERIES * 4).fill(0.5), dims: [1, QUERIES, 4] };
const SCORE = 1 / (1 + Math.exp(-2));

const found = (options: TypedOptions, columns: number, ...high: readonly number[]) =>
  createDecoderSync(options)
    .decode({ dets: boxes, labels: logitsOf(columns, ...high) })
    .toArray()
    .map((d) => [d.class_id, d.label, Number(d.confidence.toFixed(4))]);

const score = Number(SCORE.toFixed(4));

function refused(options: TypedOptions, outputs: object): TensorError {
  try {
    createDecoderSync(options).decode(outputs as never);
  } catch (e) {
    return e as TensorError;
  }
  throw new Error("nothing was refused");
}

describe("RF-DETR", () => {
  const labels = ["cat", "dog", "bird"];
  test.each([1, 2, 3, 4, 5, 8, 90])("%i labels and a column more: the last column is no class", (count) => {
    const names = Array.from({ length: count }, (_, i) => `class ${i}`);
    expect(found({ family: "rfdetr", labels: names }, count + 1, count - 1, count)).toEqual([
      [count - 1, `class ${count - 1}`, score],
    ]);
  });

  test("the first column is no class", () => {
    expect(found({ family: "rfdetr", labels, background: 0 }, 4, 0, 2)).toEqual([[2, "dog", score]]);
  });

  test("one query gives two detections, and one where the best class of each query is asked for", () => {
    expect(found({ family: "rfdetr", labels }, 3, 0, 2)).toHaveLength(2);
    expect(found({ family: "rfdetr", labels, rules: { multiLabel: false } }, 3, 0, 2)).toHaveLength(1);
  });

  test("there are as many detections as queries at most", () => {
    const full = { data: new Float32Array(QUERIES * 3).fill(2), dims: [1, QUERIES, 3] };
    const decoder = createDecoderSync({ family: "rfdetr", labels });
    expect(decoder.decode({ dets: boxes, labels: full }).length).toBe(QUERIES);
  });

  test.each([
    ["80 names", COCO80],
    ["90 names, person first", COCO91.slice(1)],
    ["91 names, background first", COCO91],
  ])("91 columns of COCO, %s: class ids are COCO's own", (_, names) => {
    expect(found({ family: "rfdetr", labels: names }, 91, 1, 90)).toEqual([
      [1, "person", score],
      [90, "toothbrush", score],
    ]);
  });

  test("lists of COCO's 80 names choose classes and thresholds", () => {
    const confidenceThreshold = COCO80.map((name) => (name === "toothbrush" ? 0.95 : 0.25));
    expect(found({ family: "rfdetr", labels: COCO80, confidenceThreshold }, 91, 1, 90)).toEqual([
      [1, "person", score],
    ]);
    expect(found({ family: "rfdetr", labels: COCO80, keep: ["toothbrush"] }, 91, 1, 90)).toEqual([
      [90, "toothbrush", score],
    ]);
  });

  test.each([80, 90])("91 columns for %i classes without names are refused", (classes) => {
    const outputs = { dets: boxes, labels: logitsOf(91) };
    const error = refused({ family: "rfdetr", classes }, outputs);
    expect(error.name).toBe("TensorError");
    expect(error.message).toContain(classes === 80 ? "COCO's 80 names as labels" : "classes: 91");
  });

  test("the stated last column is left out", () => {
    expect(found({ family: "rfdetr", classes: 90, background: 90 }, 91, 1, 90)).toEqual([[1, "1", score]]);
  });

  test("four columns beside boxes: the names tell which is which", () => {
    expect(found({ family: "rfdetr", labels }, 4, 1)).toEqual([[1, "dog", score]]);
  });
});

describe("C + 1 columns: DETR or RF-DETR", () => {
  const outputs = (box: string, scores: string) => ({ [box]: boxes, [scores]: logitsOf(5, 1) });
  test.each([
    ["dets", "labels"],
    ["output0", "output1"],
    ["boxes", "scores"],
  ])("%s and %s are refused with both readings", (box, scores) => {
    const error = refused({ family: "detr", classes: 4 }, outputs(box, scores));
    expect(error.message).toContain(
      'got 5 columns for 4 classes, which can be read in 2 ways, expected family: "rfdetr" if it is RF-DETR, LW-DETR (each column goes through a sigmoid), or scores: "softmax-logits" if it is DETR',
    );
    expect(error.options).toEqual([
      { option: "family", value: "rfdetr" },
      { option: "scores", value: "softmax-logits" },
    ]);
  });

  test("the advice works: both give detections of their own", () => {
    const decode = (options: TypedOptions) => createDecoderSync(options).decode(outputs("dets", "labels"));
    expect(decode({ family: "rfdetr", classes: 4 }).toArray()[0].confidence).toBeCloseTo(SCORE, 5);
    const softmax = Math.exp(2) / (Math.exp(2) + 4 * Math.exp(-5));
    expect(
      decode({ family: "detr", classes: 4, scores: "softmax-logits" }).toArray()[0].confidence,
    ).toBeCloseTo(softmax, 5);
  });

  test.each(["logits", "pred_logits"])("%s is DETR's name", (name) => {
    const decoder = createDecoderSync({ family: "detr", classes: 4 });
    decoder.decode(outputs("pred_boxes", name));
    expect(decoder.describe().text).toContain("applies the softmax");
  });
});

test("names of people for RF-DETR are understood", () => {
  for (const family of ["rf-detr", "RFDETR", "LW-DETR", "rfdetr-nano"])
    expect(() => createDecoderSync({ family: family as "rfdetr", classes: 3 })).toThrow(/expected "rfdetr"/);
});

test("Hugging Face's YOLO26 has RT-DETR's rule", () => {
  const logits = Float32Array.from({ length: 300 * 80 }, (_, i) => (i % 777 === 5 ? 2 : -6));
  const boxes = Float32Array.from({ length: 1200 }, (_, i) => 0.2 + (i % 50) / 100);
  const outputs = {
    logits: { data: logits, dims: [1, 300, 80] },
    pred_boxes: { data: boxes, dims: [1, 300, 4] },
  };
  const decode = (family: "yolo26" | "rtdetr") =>
    createDecoderSync({ family, classes: 80, inputSize: [640, 640] })
      .decode(outputs)
      .toArray();
  expect(decode("yolo26")).toHaveLength(31);
  expect(decode("yolo26")).toEqual(decode("rtdetr"));
});
