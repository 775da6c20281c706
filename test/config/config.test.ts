/** Which format a document has, documents that are no config, and options over a config. */
import { describe, expect, test } from "vitest";
import { parseConfig, readConfig } from "../../src/config/config.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { archive, problemsOf, yolo } from "../support/configs.ts";

describe("nothing to decode", () => {
  const raw = { NN_config: { output_format: "raw" } };
  test.each([
    ["no config", undefined, "no config"],
    ["null", null, "no config"],
    ["an empty object", {}, "no config"],
    ["its text", "{}", "no config"],
    ["raw and nothing else", raw, 'output_format "raw"'],
    ["raw with labels", { ...raw, mappings: { labels: ["a"] } }, 'output_format "raw"'],
    ["an empty block", { nn_config: {} }, "no output_format"],
  ])("%s", (_, json, why) => {
    const config = parseConfig(json);
    expect(config).toMatchObject({ decodes: false, kind: null, family: null });
    expect(config.note).toContain(why);
    expect(config.note).toContain("nothing here says how to decode");
  });

  test("an archive without heads", () => {
    for (const heads of [null, []]) {
      const config = parseConfig(archive({}, {}, { heads }));
      expect(config).toMatchObject({ format: "nn-archive", decodes: false });
      expect(config.note).toContain("no heads");
    }
  });

  test("raw with a family is decoded, by the host", () => {
    expect(parseConfig(yolo({}, { output_format: "raw" }))).toMatchObject({
      outputFormat: "raw",
      decodes: true,
      note: null,
      kind: "yolo",
    });
  });
});

describe("no config at all", () => {
  test.each<[string, unknown, string]>([
    ["text that is not JSON", "{NN_config}", "got text that is not JSON ("],
    ["no text", "", "got an empty text, expected NN_config"],
    ["half a file", '{"NN_config": {', "got text that is not JSON ("],
    ["a promise", Promise.resolve({}), "got a Promise, expected what it resolves to: await it"],
    ["a map", new Map([["NN_config", {}]]), "got a Map, expected plain data: NN_config"],
    ["a number", "5", "got 5, expected an object"],
    ["a list", [], "got [], expected an object"],
    ["bytes", new Uint8Array(4), "got bytes, expected "],
    ["a function", () => 1, "got "],
    [
      "another program's file",
      { source: "roboflow", model: "x/1" },
      "got an object with source, model, expected NN_config",
    ],
    [
      "a misspelt key",
      { familiy: "yolov8" },
      "got an object with familiy, expected NN_config, nn_config, model (NN Archive config.json) or family " +
        "(typed options); did you mean family?",
    ],
    ["a block that is none", { NN_config: "raw" }, 'NN_config: got "raw", expected an object'],
    [
      "a getter that throws",
      {
        get family() {
          throw new TypeError("no");
        },
      },
      "got a value that cannot be read through",
    ],
    ["nesting without end", "[".repeat(20000) + "]".repeat(20000), "got "],
  ])("%s", (_, json, message) => {
    const problems = problemsOf(json);
    expect(problems).toHaveLength(1);
    expect(problems[0].slice(0, message.length)).toBe(message);
  });

  test("a ConfigError carries its problems as data", () => {
    const error = (() => {
      try {
        return parseConfig(yolo({ classes: -1, iou_threshold: 2 }));
      } catch (e) {
        return e;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems).toEqual([
      { path: "NN_specific_metadata.classes", message: "got -1, expected a positive whole number below 1e9" },
      { path: "NN_specific_metadata.iou_threshold", message: "got 2, expected a number in 0..1" },
    ]);
  });
});

describe("options over a config", () => {
  test("the problems of both are told at once, those of options by their path", () => {
    const options = { clases: 3, iouThreshold: 2 } as unknown as DecoderOptions;
    expect(() => readConfig(yolo({ classes: -1 }), options)).toThrow(
      [
        "NN_specific_metadata.classes: got -1, expected a positive whole number below 1e9",
        "options.clases: got an unknown name, expected a known one; did you mean classes?",
        "options.iouThreshold: got 2, expected a number in 0..1",
      ].join("\n"),
    );
  });

  test("lists are compared with the classes only where the config itself is sound", () => {
    const one = { labels: ["a"] };
    expect(() => readConfig(yolo({ classes: 2, iou_threshold: 2 }), one)).not.toThrow("1 labels");
    expect(() => readConfig(yolo({ classes: 2 }, {}, { mappings: null }), one)).toThrow(
      "options.labels: got 1 labels, expected 2 for classes = 2",
    );
  });

  test("an option goes over what the config says, and names a family where it names none", () => {
    expect(readConfig({}, { family: "yolov8", inputSize: [64, 32] })).toMatchObject({
      decodes: true,
      note: null,
      family: "yolov8",
      inputSize: [64, 32],
    });
    expect(readConfig(yolo({ classes: 2 }, {}, { mappings: null }), { classes: 3 }).classes).toBe(3);
    expect(readConfig(yolo(), null as unknown as DecoderOptions)).toEqual(parseConfig(yolo()));
  });
});
