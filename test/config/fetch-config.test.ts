/** `fetchConfig`: a config file whose readers come later reads as it does at once. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { fetchConfig } from "../../src/config/read.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { createDecoder } from "../../src/entries/core.ts";

const file = () => ({
  nn_config: {
    NN_family: "YOLO",
    input_size: "64x64",
    NN_specific_metadata: {
      classes: 2,
      coordinates: 4,
      anchors: [10, 14, 23, 27],
      anchor_masks: { side4: [0, 1] },
      confidence_threshold: 0.5,
      iou_threshold: 0.5,
    },
  },
  mappings: { labels: ["cat", "dog"] },
});
const archive = () => ({
  config_version: "1.0",
  model: {
    metadata: { name: "network" },
    inputs: [{ name: "images", input_type: "image", shape: [1, 3, 64, 64], layout: "NCHW" }],
    outputs: [{ name: "output0" }],
    heads: [{ parser: "YOLO", metadata: { subtype: "yolov8", n_classes: 2, yolo_outputs: ["output0"] } }],
  },
});

describe("fetchConfig", () => {
  test.each([
    ["typed options", () => ({ family: "yolov8", classes: 2, inputSize: [64, 64] })],
    ["nn_config", file],
    ["its text", () => JSON.stringify(file())],
    ["an NN Archive", archive],
    ["nothing", () => null],
  ])("reads %s as readConfig does", async (_, make) => {
    const options = { confidenceThreshold: 0.3 };
    expect(await fetchConfig(make(), options)).toEqual(readConfig(make(), options));
  });

  test.each([
    ["nn_config", file],
    ["an NN Archive", archive],
  ] as const)("a caller's later change of %s says nothing", async (_, make) => {
    const given: { model?: unknown; nn_config?: unknown } = make();
    const options: { labels: string[] } = { labels: ["a", "b"] };
    const decoder = createDecoder(given, options);
    given.model = given.nn_config = 1;
    options.labels[1] = "changed";
    expect((await decoder).config).toEqual(readConfig(make(), { labels: ["a", "b"] }));
  });

  test("a file that refers to itself, and options that are none, are refused in the same words", async () => {
    const loop: { nn_config: { self?: unknown }; mappings?: unknown } = { nn_config: {} };
    loop.mappings = loop;
    const errorOf = (run: () => unknown): string => {
      try {
        run();
      } catch (e) {
        return (e as Error).message;
      }
      return "none";
    };
    for (const [json, options] of [
      [loop, {}],
      [file(), [1]],
      [file(), { labels: 1 }],
    ] as const) {
      const expected = errorOf(() => readConfig(json, options as never));
      const found = await fetchConfig(json, options as never).then(
        () => "none",
        (e: unknown) => (e instanceof ConfigError ? e.message : "another error"),
      );
      expect(found).toBe(expected);
    }
  });
});
