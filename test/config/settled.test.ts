import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { COCO91 } from "../../src/core/labels.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { archive, problemsOf, yolo } from "../support/configs.ts";

describe("labels of an operator that leaves the background out of its class ids", () => {
  const outputs = {
    TFLite_Detection_PostProcess: {
      data: Float32Array.of(0.1, 0.1, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7),
      dims: [1, 2, 4],
    },
    "TFLite_Detection_PostProcess:1": { data: Float32Array.of(0, 17), dims: [1, 2] },
    "TFLite_Detection_PostProcess:2": { data: Float32Array.of(0.9, 0.8), dims: [1, 2] },
    "TFLite_Detection_PostProcess:3": { data: Float32Array.of(2), dims: [1] },
  };
  const names = COCO91.slice(1);
  const family = "tflite-postprocess" as const;
  test.each(["background", "???", "Background", "__background__"])("a first label %s", (first) => {
    const labels = [first, ...names];
    for (const decoder of [
      createDecoderSync({ family, labels }),
      createDecoderSync({ family, labels, classes: 91 }),
      createDecoderSync({ family }, { labels }),
      createDecoderSync(yolo(), { family, labels, classes: 91 }),
    ]) {
      expect(
        decoder
          .decode(outputs)
          .toArray()
          .map(({ label }) => label),
      ).toEqual(["person", "dog"]);
      expect(decoder.config.labels).toHaveLength(90);
    }
  });

  test("thresholds and names to keep follow the labels", () => {
    const labels = ["???", ...names];
    const confidenceThreshold = labels.map((name) => (name === "person" ? 0.95 : 0.5));
    const found = (options: DecoderOptions): string[] =>
      createDecoderSync({ family, labels }, options)
        .decode(outputs)
        .toArray()
        .map(({ label }) => label);
    expect(found({ confidenceThreshold })).toEqual(["dog"]);
    expect(found({ keep: ["person"] })).toEqual(["person"]);
  });

  test("other lists stay", () => {
    expect(createDecoderSync({ family, labels: names }).config.labels).toHaveLength(90);
    expect(createDecoderSync({ family: "yolov8", labels: ["background", "a"] }).config.labels).toHaveLength(
      2,
    );
  });
});

describe("what a file lacks, and an option states", () => {
  const raw = { output_format: "detection", NN_specific_metadata: { classes: 2 } };
  test("the family of an NN_config", () => {
    expect(problemsOf({ NN_config: raw })).toHaveLength(1);
    expect(createDecoderSync({ NN_config: raw }, { family: "yolov8" }).config).toMatchObject({
      family: "yolov8",
      classes: 2,
      decodes: true,
    });
  });

  test("the number of classes of an NN_config, by classes or labels", () => {
    const config = { NN_config: { NN_family: "YOLO", NN_specific_metadata: { anchors: [] } } };
    expect(problemsOf(config)).toHaveLength(1);
    expect(createDecoderSync(config, { classes: 3 }).config.classes).toBe(3);
    expect(createDecoderSync(config, { labels: ["a", "b"] }).config.classes).toBe(2);
  });

  test("the parser of an NN Archive", () => {
    const other = archive({}, { parser: "MyParser" });
    expect(problemsOf(other)).toHaveLength(1);
    expect(createDecoderSync(other, { family: "yolov8" }).config).toMatchObject({
      family: "yolov8",
      decodes: true,
    });
  });

  test("the family of typed options", () => {
    expect(createDecoderSync({ classes: 2 }, { family: "yolov8" }).config.family).toBe("yolov8");
  });

  test("a value that is wrong stays wrong", () => {
    expect(() => createDecoderSync({ NN_config: { NN_family: "FOO" } }, { family: "yolov8" })).toThrow(
      "NN_family",
    );
  });
});

describe("anchors as an option", () => {
  const anchors = [10, 13, 16, 30, 33, 23];
  const data = new Float32Array(3 * 7 * 4).fill(-9);
  [0, 0, 0, 0, 4, -9, 4].forEach((value, channel) => (data[channel * 4 + 3] = value));
  const outputs = { o: { data, dims: [1, 21, 2, 2] } };
  const options = {
    family: "yolov5",
    classes: 2,
    inputSize: [64, 64],
    anchors,
    scores: "logits",
  } as const;
  test.each<[string, unknown]>([
    ["nothing", {}],
    ["typed options", { family: "yolov5" }],
    [
      "an NN_config without anchors",
      { NN_config: { NN_family: "YOLO", NN_specific_metadata: { classes: 2 } } },
    ],
    ["an NN_config with other anchors", yolo({ classes: 2 }, { input_size: "64x64" }, { mappings: null })],
    [
      "an NN Archive",
      {
        model: {
          outputs: [{ name: "o" }],
          heads: [{ parser: "YOLO", metadata: { n_classes: 2, subtype: "yolov5" } }],
        },
      },
    ],
  ])("over %s", (_, config) => {
    const [found] = createDecoderSync(config, options).decode(outputs).toArray();
    // (2 s(0) - 0.5 + 1) x 32, and (2 s(0))^2 x 10
    expect(found.x_min).toBeCloseTo((48 - 5) / 64, 5);
    expect(found.y_max).toBeCloseTo((48 + 6.5) / 64, 5);
  });

  test("wrong ones are refused by the option's path", () => {
    expect(() => createDecoderSync({ family: "yolov5" }, { anchors: [1, 2, 3] })).toThrow(
      "options.anchors: got 3 numbers, expected an even count",
    );
    expect(() => createDecoderSync({ family: "yolov5" }, { anchorMasks: [[0]] })).toThrow("options.anchors");
  });
});

describe("a family that evidence leaves open", () => {
  const notesOf = (config: unknown, dims: readonly number[]): readonly string[] => {
    const notes: string[] = [];
    const decoder = createDecoderSync(config, {
      onNote: (note) => notes.push(note),
      outputs: { output: { dims, type: "f32" } },
    });
    return [decoder.describe().text, ...notes];
  };

  test("anchors beside a model.xml are those of YOLOv5 or v7, and a note says so", () => {
    const metadata = { classes: 1, anchors: [10, 13, 16, 30, 33, 23], anchor_masks: { side20: [0, 1, 2] } };
    const config = {
      model: { xml: "best.xml", bin: "best.bin" },
      nn_config: {
        output_format: "detection",
        NN_family: "YOLO",
        input_size: "640x640",
        NN_specific_metadata: metadata,
      },
    };
    const [text, ...notes] = notesOf(config, [1, 18, 20, 20]);
    expect(text).toContain("yolov5");
    expect(notes.join()).toContain('read as yolov5: only tools.luxonis.com names a file like "best.xml"');
    expect(notesOf({ ...config, model: { xml: "yolo-v3.xml" } }, [1, 18, 20, 20])[0]).toContain("yolov3");
  });

  const r1 = (name: string): unknown => ({
    model: {
      metadata: { name },
      inputs: [{ name: "in", shape: [1, 3, 64, 64] }],
      outputs: [{ name: "output" }],
      heads: [{ parser: "YOLO", metadata: { n_classes: 1, subtype: "yolov6r1" } }],
    },
  });
  const scoreOf = (name: string): number => {
    const data = new Float32Array(6 * 4);
    [0.5, 0.5, 0, 0, 0.6, 0.9].forEach((value, channel) => (data[channel * 4] = value));
    return createDecoderSync(r1(name))
      .decode({ output: { data, dims: [1, 6, 2, 2] } })
      .toArray()[0].confidence;
  };

  test("an archive of YOLOX that is marked yolov6r1 multiplies by objectness if its name tells", () => {
    expect(scoreOf("yolox_s")).toBeCloseTo(0.54, 6);
    expect(scoreOf("net")).toBeCloseTo(0.9, 6);
    expect(notesOf(r1("net"), [1, 6, 2, 2]).join()).toContain(
      'say family: "yolox", which multiplies by objectness',
    );
    expect(notesOf(r1("yolox_s"), [1, 6, 2, 2])).toHaveLength(1);
  });
});
