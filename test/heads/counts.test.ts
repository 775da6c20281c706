/** Shapes that fit one column or one reading too many: refused with the option that settles them. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorError } from "../../src/core/errors.ts";
import type { TypedOptions } from "../../src/config/types.ts";

const refused = (act: () => unknown): TensorError => {
  try {
    act();
  } catch (e) {
    return e as TensorError;
  }
  throw new Error("nothing was refused");
};

// jetson-inference and pytorch-ssd: column 0 of the scores is the background. dusty-nv/jetson-inference#984.
const labels = ["person", "cat", "dog"];
const ssd = {
  boxes: { data: Float32Array.of(0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.6, 0.7), dims: [1, 2, 4] },
  scores: { data: Float32Array.of(0.97, 0.01, 0.01, 0.01, 0.05, 0.02, 0.9, 0.03), dims: [1, 2, 4] },
};
const boxes = (more: Partial<TypedOptions>): TypedOptions => ({
  family: "boxes",
  coordinates: "normalised",
  roles: { boxes: "boxes", scores: "scores" },
  ...more,
});

test.each([{ labels }, { classes: 3 }])("boxes with a score column too many: %j", (counted) => {
  const error = refused(() => createDecoderSync(boxes(counted)).decode(ssd));
  expect(error.message).toContain("[1,N,4] + [1,N,4] with background: 0, or 3 if it is the last column");
  expect(error.options?.map(({ option }) => option)).toContain("background");
  const found = createDecoderSync(boxes({ ...counted, background: 0 }))
    .decode(ssd)
    .toArray();
  expect(found).toHaveLength(1);
  expect(found[0].confidence).toBeCloseTo(0.9, 6);
  if ("labels" in counted) expect(found[0].label).toBe("cat");
});

test("boxes whose labels name the background", () => {
  const named = { labels: ["background", ...labels], background: 0 } as const;
  expect(
    createDecoderSync(boxes(named))
      .decode(ssd)
      .toArray()
      .map((d) => d.label),
  ).toEqual(["cat"]);
});

// Maps at 8, 16, 32, 64 of this input have 300 cells together.
const LIST = { family: "yolo26", classes: 2, inputSize: [122, 108] } as const;

test("300 rows of six at an input of 300 cells: a list, or the cells of two classes", () => {
  const outputs = { o: { dims: [1, 300, 6] } };
  const error = refused(() => createDecoderSync(LIST, { outputs }));
  expect(error.message).toContain("which can be read in");
  for (const reading of ["end-to-end", "class-rows"] as const) {
    expect(error.message).toContain(`(reading: "${reading}")`);
    expect(createDecoderSync(LIST, { outputs, reading }).describe().text).toContain(`reading: ${reading}`);
  }
});

test("rows of an input that has other than 300 cells stay rows", () => {
  const small = createDecoderSync({ ...LIST, inputSize: [64, 64] }, { outputs: { o: { dims: [1, 84, 6] } } });
  expect(small.describe().text).toContain("reading: class-rows");
});

test.each([
  ["picodet_cls", "PicoDet"],
  ["rtmdet-s/bbox", "RTMDet"],
  ["libreyolo9", "LibreYOLO"],
  ["pp-yoloe", "PP-YOLOE"],
  ["damo_yolo", "DAMO-YOLO"],
  ["yolo_nas_s", "YOLO-NAS"],
])("%s: a note on a network that the stated family does not read", (name, network) => {
  const decoder = createDecoderSync(
    { ...LIST, family: "yolov8" },
    { outputs: { [name]: { dims: [1, 6, 84] } } },
  );
  expect(decoder.describe().text).toContain(`the name says ${network}`);
});
