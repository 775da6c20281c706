/** parseConfig over any input: a config, or a ConfigError that names a problem. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { archive, yolo } from "../support/configs.ts";
import { repeats } from "../support/effort.ts";
import { shared } from "../support/shared-data.ts";

/** Real files to change; the two of the helpers where the shared data is missing. */
const folder = shared === null ? null : join(shared, "data", "configs");

describe("whatever comes in", () => {
  /** A config, or a ConfigError; and for plain data, one that names a problem and not only gives up. */
  function holds(json: unknown, plain: boolean): void {
    try {
      const config = parseConfig(json);
      expect(typeof config.decodes).toBe("boolean");
      expect(config.decodes || config.note !== null).toBe(true);
      for (const set of config.anchorSets ?? []) {
        expect(set.anchors.length).toBeGreaterThan(0);
        for (const [w, h] of set.anchors) expect(w > 0 && h > 0 && w < Infinity && h < Infinity).toBe(true);
      }
      if (config.inputSize !== null)
        expect(config.inputSize.every((n) => Number.isSafeInteger(n) && n > 0)).toBe(true);
      for (const t of [config.confidenceThreshold, config.iouThreshold].flat())
        expect(t >= 0 && t <= 1).toBe(true);
      expect([null, "yolo", "ssd"]).toContain(config.kind);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const problem of error.problems) expect(problem.message).toMatch(/^got [^]*, expected /);
      if (plain) expect(error.message).not.toContain("cannot be read through");
    }
  }

  const known =
    "NN_config nn_config NN_family output_format NN_specific_metadata classes coordinates anchors anchor_masks side13 mappings " +
    "labels input_size model model_name heads parser metadata outputs inputs name shape layout subtype yolo_outputs n_classes " +
    "boxes_outputs family inputSize anchorMasks strides scaleXY scores boxFormat roles boxes priors coordinates background " +
    "variances scales rules set nms keep confidenceThreshold iouThreshold constructor __proto__ toString";
  const word = fc.constantFrom(
    "YOLO",
    "mobilenet",
    "SSD",
    "raw",
    "detection",
    "yolov5",
    "ssd",
    "416x416",
    "constructor",
    "__proto__",
  );
  const number = fc.constantFrom(0, 1, 2, 4, 13, 416, -1, 0.5, 1e300);
  const leaf = fc.oneof(word, number, fc.jsonValue({ maxDepth: 2 }));
  const document = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...known.split(" ")), tie("value"), { maxKeys: 8 }),
    ),
  })).value;

  test("any JSON, parsed and as text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        holds(json, true);
        holds(JSON.stringify(json), true);
      }),
      { numRuns: repeats(2000, 300) },
    );
  });

  test("any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => holds(text, true)),
      { numRuns: repeats(2000, 300) },
    );
  });

  test("any JSON made of the words of the formats", () => {
    fc.assert(
      fc.property(document, (json) => holds(json, true)),
      { numRuns: repeats(2000, 300) },
    );
  });

  test("any value of the language", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => holds(value, false)),
      { numRuns: repeats(2000, 300) },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...known.split(" ")), anything), (options) =>
        holds({ ...options, family: "ssd" }, false),
      ),
      { numRuns: repeats(2000, 300) },
    );
  });

  const configs: unknown[] = [
    yolo(),
    archive(),
    {
      nn_config: { NN_family: "mobilenet", confidence_threshold: 0.5 },
      mappings: { labels: ["background", "face"] },
    },
    {
      family: "yolov4",
      classes: 2,
      labels: ["a", "b"],
      inputSize: [416, 416],
      anchors: [1, 2, 3, 4, 5, 6, 7, 8],
      anchorMasks: { side26: [0, 1], side13: [2, 3] },
      strides: [16, 32],
      scaleXY: [1.05, 1.1],
      confidenceThreshold: [0.1, 0.2],
      roles: { boxes: "b", scores: ["s"] },
      priors: [0, 0, 1, 1],
      scales: [10, 10, 5, 5],
      rules: { set: "opencv", suppress: "all" },
    },
    ...(folder === null
      ? []
      : readdirSync(folder)
          .filter((file) => file.endsWith(".json"))
          .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as unknown)),
  ];

  /** Changes one place of a document: other value, removed, or a key beside it. */
  function mutate(
    json: unknown,
    steps: readonly number[],
    how: number,
    value: unknown,
    key: string,
  ): unknown {
    const copy = structuredClone(json) as Record<string, unknown>;
    let at: Record<string, unknown> = copy;
    for (const [i, step] of steps.entries()) {
      const keys = Object.keys(at);
      if (keys.length === 0) break;
      const chosen = keys[step % keys.length];
      const next = at[chosen];
      if (i < steps.length - 1 && typeof next === "object" && next !== null) {
        at = next as Record<string, unknown>;
        continue;
      }
      if (how === 0) at[chosen] = value;
      else if (Array.isArray(at)) at.splice(Number(chosen), how === 1 ? 1 : 0, ...(how === 1 ? [] : [value]));
      else if (how === 1) delete at[chosen];
      else Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
      break;
    }
    return copy;
  }

  test("any change to a config that is right", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...configs),
        fc.array(
          fc.tuple(
            fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 7 }),
            fc.nat({ max: 2 }),
            fc.oneof(leaf, document),
            fc.constantFrom(...known.split(" ")),
          ),
          { minLength: 1, maxLength: 3 },
        ),
        (json, changes) =>
          holds(
            changes.reduce((doc, change) => mutate(doc, ...change), json),
            true,
          ),
      ),
      { numRuns: repeats(2000, 300) },
    );
  });
});
