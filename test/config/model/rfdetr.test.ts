/** What files of RF-DETR say: by the key of their metadata, and by the names of their outputs. */
import { describe, expect, test } from "vitest";
import { COCO80, COCO91, createDecoder, readModel } from "../../../src/entries/index.ts";
import { input, output, problemsOf } from "../../support/model-files.ts";
import { onnxFile } from "../../support/onnx.ts";

const QUERIES = 20;

/** Returns a file with so many columns of scores. */
const fileOf = (columns: number, inference?: object | string, names = ["dets", "labels"]) =>
  onnxFile({
    inputs: [input(1, 3, 384, 384)],
    outputs: [output(names[0], 1, QUERIES, 4), output(names[1], 1, QUERIES, columns)],
    ...(inference !== undefined && {
      metadata: {
        rfdetr_inference: typeof inference === "string" ? inference : JSON.stringify(inference),
      },
    }),
  });

const tensorsOf = (columns: number, high: readonly number[], names = ["dets", "labels"]) => {
  const data = new Float32Array(QUERIES * columns).fill(-5);
  for (const column of high) data[columns + column] = 2;
  return {
    [names[0]]: { data: new Float32Array(QUERIES * 4).fill(0.5), dims: [1, QUERIES, 4] },
    [names[1]]: { data, dims: [1, QUERIES, columns] },
  };
};

describe("rfdetr_inference", () => {
  const byId = Object.fromEntries(COCO91.flatMap((name, id) => (COCO80.includes(name) ? [[id, name]] : [])));

  test("COCO: names by COCO's ids, and the preparation", async () => {
    const names = ["out_a", "out_b"];
    const model = await readModel(
      fileOf(
        91,
        {
          task: "detect",
          input_shape: [1, 3, 384, 384],
          outputs: { pred_boxes: "out_a", pred_logits: "out_b" },
          means: [0.485, 0.456, 0.406],
          stds: [0.229, 0.224, 0.225],
          class_id_to_name: byId,
          num_classes: 90,
          num_select: QUERIES,
        },
        names,
      ),
    );
    expect(model).toMatchObject({ exporter: "rfdetr", task: "detect", inputSize: [384, 384], missing: [] });
    expect(model.options).toMatchObject({
      family: "rfdetr",
      roles: { boxes: "out_a", scores: "out_b" },
      maxDetections: QUERIES,
      prepare: { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] },
    });
    const found = (await createDecoder(model)).decode(tensorsOf(91, [1, 90], names)).toArray();
    expect(found.map((d) => [d.class_id, d.label])).toEqual([
      [1, "person"],
      [90, "toothbrush"],
    ]);
  });

  test("trained further: the last column is no class", async () => {
    const model = await readModel(fileOf(3, { class_names: ["cat", "dog"], num_classes: 2 }));
    const found = (await createDecoder(model)).decode(tensorsOf(3, [1, 2])).toArray();
    expect(found.map(({ label }) => label)).toEqual(["dog"]);
  });

  test("masks are read where the file has them", async () => {
    const model = await readModel(
      onnxFile({
        inputs: [input(1, 3, 384, 384)],
        outputs: [
          output("dets", 1, QUERIES, 4),
          output("labels", 1, QUERIES, 3),
          output("m", 1, QUERIES, 8, 8),
        ],
        metadata: {
          rfdetr_inference: JSON.stringify({
            task: "segment",
            class_names: ["cat", "dog"],
            outputs: { pred_boxes: "dets", pred_logits: "labels", pred_masks: "m" },
          }),
        },
      }),
    );
    expect(model.options).toMatchObject({
      task: "segment",
      roles: { boxes: "dets", scores: "labels", masks: "m" },
    });
    const m = { data: new Float32Array(QUERIES * 64).fill(1), dims: [1, QUERIES, 8, 8] };
    const found = (await createDecoder(model)).decode({ ...tensorsOf(3, [0]), m });
    expect(found.mask(0, { size: "network" }).data.every((p) => p === 1)).toBe(true);
  });

  test("masks that the file lacks are left alone", async () => {
    const model = await readModel(fileOf(3, { task: "segment", class_names: ["cat", "dog"] }));
    expect(model).toMatchObject({ task: "segment", missing: [] });
    expect((await createDecoder(model)).decode(tensorsOf(3, [0])).length).toBe(1);
  });

  test.each([
    ["no JSON", "{", "metadata.rfdetr_inference: got a text that is no JSON object"],
    ["a list", "[]", "metadata.rfdetr_inference: got a text that is no JSON object"],
    ["means", { means: [1] }, "metadata.rfdetr_inference.means: got"],
    ["ids", { class_id_to_name: { cat: "cat" } }, "metadata.rfdetr_inference.class_id_to_name: got"],
    ["one id beyond any", { class_id_to_name: { 1e9: "cat" } }, "class_id_to_name: got"],
    ["count", { num_classes: 0 }, "metadata.rfdetr_inference.num_classes: got 0"],
  ])("%s: refused", async (_, inference, message) => {
    expect(await problemsOf(fileOf(3, inference))).toContain(message);
  });
});

test("without metadata the names of the outputs tell the family", async () => {
  const model = await readModel(fileOf(3));
  expect(model).toMatchObject({ exporter: "rfdetr", options: { family: "rfdetr" } });
  const decoder = await createDecoder(model, { labels: ["cat", "dog"] });
  expect(decoder.decode(tensorsOf(3, [1])).toArray()[0].label).toBe("dog");
});
