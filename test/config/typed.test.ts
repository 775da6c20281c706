/** Typed options, and the settings that go over any config. */
import { describe, expect, test } from "vitest";
import { parseConfig, readConfig } from "../../src/config/config.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { archive, names, problemsOf } from "../support/configs.ts";

describe("typed options", () => {
  const tiny = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319];
  const pairs = [
    [10, 14],
    [23, 27],
    [37, 58],
    [81, 82],
    [135, 169],
    [344, 319],
  ];

  test.each(["suppress", "multiLabel", "clamp", "gate", "iouGate", "maxCandidates", "pixelOffset", "set"])(
    "the rule %s belongs into rules",
    (rule) => {
      expect(problemsOf({ family: "yolov8", classes: 1, [rule]: "none" })).toEqual([
        `${rule}: got it beside rules, expected rules: {${rule}: ...}, which holds the rules`,
      ]);
    },
  );

  test("the least there is, and the defaults", () => {
    expect(parseConfig({ family: "yolov8", classes: 80, inputSize: [640, 352] })).toMatchObject({
      format: "options",
      outputFormat: null,
      decodes: true,
      family: "yolov8",
      classes: 80,
      labels: null,
      inputSize: [640, 352],
      confidenceThreshold: 0.25,
      iouThreshold: 0.45,
      maxDetections: 300,
      anchorSets: null,
      ruleSet: "ultralytics",
      rules: {},
    });
  });

  test("all of them", () => {
    const priors = Float32Array.of(0, 0, 1, 1, 0.5, 0.5, 1, 1);
    const config = parseConfig({
      family: "ssd",
      labels: ["none", ["cat", "red"]],
      confidenceThreshold: [0.9, 0.2],
      iouThreshold: 0,
      maxDetections: 7,
      scores: "probabilities",
      boxFormat: "xyxy",
      coordinates: "normalised",
      roles: { boxes: "loc", scores: ["c1", "c2"], priors: "p" },
      priors,
      background: 0,
      scales: [10, 10, 5, 5],
      reading: "prior-rows",
      rules: { set: "opencv", suppress: "all", multiLabel: true },
    });
    expect(config).toMatchObject({
      classes: 2,
      labels: ["none", "cat"],
      confidenceThreshold: [0.9, 0.2],
      iouThreshold: 0,
      maxDetections: 7,
      scores: "probabilities",
      boxFormat: "xyxy",
      coordinates: "normalised",
      roles: { boxes: "loc", scores: ["c1", "c2"], priors: "p" },
      background: 0,
      variances: [0.1, 0.1, 0.2, 0.2],
      reading: "prior-rows",
      ruleSet: "opencv",
      rules: { suppress: "all", multiLabel: true },
    });
    expect(config.priors).toEqual(priors);
    // A copy: the caller may reuse the array.
    expect(config.priors).not.toBe(priors);
    expect(parseConfig({ family: "ssd", background: false }).background).toBe(false);
    expect(parseConfig('{"family": "ssd", "priors": [0, 1, 2, 3]}').priors).toEqual(
      Float32Array.of(0, 1, 2, 3),
    );
  });

  test("anchors as networks' own files write them", () => {
    const pairs = [
      [10, 13],
      [16, 30],
      [33, 23],
    ];
    const next = [
      [30, 61],
      [62, 45],
      [59, 119],
    ];
    const sets = (anchors: unknown, more: object = {}): unknown =>
      parseConfig({ family: "yolov5", classes: 80, anchors, ...more }).anchorSets?.map((s) => s.anchors);
    // a list of pairs, and a flat list for each map
    expect(sets([...pairs, ...next])).toEqual([pairs, next]);
    expect(sets([pairs.flat(), next.flat()])).toEqual([pairs, next]);
    expect(sets([...pairs, ...next], { anchorMasks: [[0], [5, 1]] })).toEqual([
      [pairs[0]],
      [next[2], pairs[1]],
    ]);
    expect(sets([pairs, next])).toEqual([pairs, next]);
    expect(() => sets([[10, 13, 16], next.flat()])).toThrow(ConfigError);
    expect(() =>
      sets([
        [10, -13],
        [16, 30],
      ]),
    ).toThrow(/only positive numbers/);
  });

  test("names that are nearly right are told, others mean nothing here", () => {
    const problems = (more: object): string =>
      problemsOf({ family: "yolov8", classes: 80, ...more }).join("\n");
    expect(problems({ confidenceTreshold: 0.9, anchor_masks: {}, clases: 3, InputSize: [1, 1] })).toBe(
      [
        "confidenceTreshold: got an unknown name, expected a known one; did you mean confidenceThreshold?",
        "anchor_masks: got an unknown name, expected a known one; did you mean anchorMasks?",
        "clases: got an unknown name, expected a known one; did you mean classes?",
        "InputSize: got an unknown name, expected a known one; did you mean inputSize?",
      ].join("\n"),
    );
    expect(parseConfig({ family: "yolov8", classes: 80, name: "x", version: 3, model: "y" }).classes).toBe(
      80,
    );
  });

  test("a set brings its own cap", () => {
    expect(parseConfig({ family: "ssd", rules: "tflite" })).toMatchObject({
      ruleSet: "tflite",
      maxDetections: 10,
    });
    expect(parseConfig({ family: "ssd", rules: { set: "tflite", maxDetections: 4 } }).maxDetections).toBe(4);
    expect(parseConfig({ family: "ssd", rules: "tflite", maxDetections: 20 }).maxDetections).toBe(20);
  });

  test("single rules leave the cap of a file as it is", () => {
    const most = (rules: DecoderOptions["rules"]): number =>
      readConfig(archive({ max_det: 1000 }), { rules: rules }).maxDetections;
    expect(most({ suppress: "class" })).toBe(1000);
    expect(most({ suppress: "class", maxDetections: 40 })).toBe(40);
    expect(most({ set: "ultralytics" })).toBe(300);
  });

  test.each<[string, object, unknown]>([
    ["none", {}, null],
    ["said to be none", { anchors: [] }, []],
    [
      "by output",
      { anchors: [pairs.slice(0, 2), pairs.slice(2)] },
      [
        [null, pairs.slice(0, 2)],
        [null, pairs.slice(2)],
      ],
    ],
    [
      "flat, by strides",
      { anchors: tiny, strides: [8, 16, 32] },
      [0, 2, 4].map((i) => [null, pairs.slice(i, i + 2)]),
    ],
    ["flat, three a map", { anchors: tiny }, [0, 3].map((i) => [null, pairs.slice(i, i + 3)])],
    ["flat, one map", { family: "yolov2", anchors: tiny }, [[null, pairs]]],
    [
      "flat, by sides in any order",
      { anchors: tiny, anchorMasks: { side13: [3, 4, 5], side26: [1, 2, 3] }, inputSize: [416, 416] },
      [
        [26, pairs.slice(1, 4)],
        [13, pairs.slice(3)],
      ],
    ],
    [
      "flat, by rank",
      { anchors: tiny, anchorMasks: [[0, 2], [5]] },
      [
        [null, [pairs[0], pairs[2]]],
        [null, [pairs[5]]],
      ],
    ],
  ])("anchors: %s", (_, options, expected) => {
    const sets = parseConfig({ family: "yolov3", classes: 2, ...options }).anchorSets;
    expect(sets && sets.map((set) => [set.side, set.anchors])).toEqual(expected);
  });

  test.each<[string, object, string[]]>([
    ["family", { family: "yolo99" }, ['family: got "yolo99", expected one of ']],
    ["family forgotten", { family: undefined, classes: 2 }, ["family: got undefined, expected one of "]],
    ["family of an object's own", { family: "constructor" }, ['family: got "constructor", expected one of ']],
    ["labels for other classes", { classes: 1, labels: names(80) }, ["labels: got 80 labels, expected 1 "]],
    [
      "confidence per class",
      { classes: 3, confidenceThreshold: [0.1] },
      ["confidenceThreshold: got [0.1], expected 3 values, one per class"],
    ],
    [
      "confidence",
      { confidenceThreshold: 1.5 },
      ["confidenceThreshold: got 1.5, expected 0..1, or an array of such, one per class"],
    ],
    [
      "confidence within",
      { confidenceThreshold: [0.5, NaN] },
      ["confidenceThreshold: got [0.5,NaN], expected 0..1, or an array of such, one per class"],
    ],
    ["IoU", { iouThreshold: "0.5" }, ['iouThreshold: got "0.5", expected a number in 0..1']],
    ["inputSize", { inputSize: [640] }, ["inputSize: got [640], expected 2 positive numbers"]],
    [
      "inputSize of a fraction",
      { inputSize: [640.5, 1] },
      ["inputSize: got [640.5,1], expected [width, height] in whole pixels"],
    ],
    ["odd anchors", { anchors: [1, 2, 3] }, ["anchors: got 3 numbers, expected an even count"]],
    [
      "anchors and strides",
      { anchors: tiny, strides: [8, 16, 32, 64] },
      ["anchors: got 6 anchors for 4 maps"],
    ],
    [
      "anchors by output and strides",
      { anchors: [[[1, 2]]], strides: [8, 16] },
      ["anchors: got anchors for 1 maps, expected 2"],
    ],
    [
      "masks without anchors",
      { anchorMasks: [[0]] },
      ["anchors: got undefined, expected the anchors that anchorMasks point at"],
    ],
    [
      "masks for anchors by output",
      { anchors: [[[1, 2]]], anchorMasks: [[0]] },
      ["anchorMasks: got masks for anchors that stand by output"],
    ],
    ["no masks", { anchors: [1, 2], anchorMasks: {} }, ["anchorMasks: got no masks for 1 anchors"]],
    ["an empty mask", { anchors: [1, 2], anchorMasks: [[]] }, ["anchorMasks[0]: got no anchors"]],
    [
      "a mask past the anchors",
      { anchors: [1, 2], anchorMasks: [[0, 1]] },
      ["anchorMasks[0][1]: got 1, expected 0..0"],
    ],
    [
      "a side that no output has",
      { anchors: [1, 2], anchorMasks: { side32: [0] }, inputSize: [416, 416] },
      ["anchorMasks.side32: got an output layer 32 wide, expected one of 52, 26, 13, 7"],
    ],
    ["scaleXY", { scaleXY: -1 }, ["scaleXY: got -1, expected a positive number"]],
    ["scaleXY of none", { scaleXY: [] }, ["scaleXY: got [], expected a positive number"]],
    [
      "variances and scales",
      { variances: [1, 1, 1, 1], scales: [1, 1, 1, 1] },
      ["scales: got scales and variances, expected one"],
    ],
    ["variances", { variances: [0.1, 0.2] }, ["variances: got [0.1,0.2], expected 4 positive numbers"]],
    ["priors", { priors: new Float32Array(6) }, ["priors: got 6 numbers, expected four for each box"]],
    ["priors within", { priors: [0, 1, NaN, 2] }, ["priors[2]: got NaN, expected a finite number"]],
    [
      "priors beyond float32",
      { priors: [0, 1, 1e300, 2] },
      ["priors[2]: got 1e+300, expected a finite number"],
    ],
    ["priors of text", { priors: ["0", 1, 2, 3] }, ['priors[0]: got "0", expected a finite number']],
    ["priors of bigint", { priors: new BigInt64Array(4) }, ["priors[0]: got 0n, expected a finite number"]],
    ["background", { background: -1 }, ["background: got -1, expected a class column, or false"]],
    [
      "enumerations",
      { scores: "relu", boxFormat: "ltrb", coordinates: "px" },
      ["scores: got", "boxFormat: got", "coordinates: got"],
    ],
    [
      "roles",
      { roles: { boxes: 1, shapes: "m", classIds: ["a", "b"] } },
      ["roles.boxes: got 1", "roles.shapes: got an unknown name", "roles.classIds: got"],
    ],
    ["set", { rules: "mine" }, ['rules: got "mine", expected one of ultralytics, depthai']],
    ["set of an object's own", { rules: "toString" }, ['rules: got "toString", expected one of']],
    [
      "rules",
      { rules: { set: "mine", nms: "some", gate: ">>", maxCandidates: -1 } },
      ["rules.nms: got", "rules.gate: got", "rules.maxCandidates: got -1", "rules.set: got"],
    ],
    [
      "rules of an object's own",
      { rules: { toString: 1, constructor: 2 } },
      ["rules.toString: got an unknown name", "rules.constructor: got an unknown name"],
    ],
  ])("refused: %s", (_, options, expected) => {
    const problems = problemsOf({ family: "yolov5", ...options });
    expect(problems.map((problem, i) => problem.slice(0, expected[i]?.length))).toEqual(expected);
  });
});

test.each([
  ["kepe", ["cat"], "keep"],
  ["rulse", {}, "rules"],
  ["inputSzie", [64, 64], "inputSize"],
  ["sigmoid", true, "scores"],
  ["nms", "depthai", "rules"],
  ["minScore", 0.1, "confidenceThreshold"],
])("a name with swapped letters, or of another project, is refused: %s", (name, value, meant) => {
  const config = { family: "yolov8", labels: ["person", "cat"], [name]: value };
  expect(() => readConfig(config, {})).toThrow(
    `${name}: got an unknown name, expected a known one; did you mean ${meant}?`,
  );
});

test("labels in a Map are refused, since a Map has no entries of an object", () => {
  const config = { family: "yolov8", labels: new Map([[0, "person"]]) };
  expect(() => readConfig(config, {})).toThrow("labels: got a Map, expected a list of names");
});

test.each([
  [{ labels: ["person", "cat"] }, [5], "class 5, expected class ids in 0..1"],
  [{ classes: 3 }, [0, 7], "class 7, expected class ids in 0..2"],
  [{ labels: "coco80" }, [95], "class 95, expected class ids in 0..79"],
  [{}, [-1], "class -1, expected class ids from 0 up"],
])("ids to keep that no class has are refused at once: %j keeps %j", (options, keep, message) => {
  for (const [config, over] of [
    [{ family: "ssd", ...options, keep }, {}],
    [{ family: "ssd", ...options }, { keep }],
  ])
    expect(() => readConfig(config, over as DecoderOptions)).toThrow(`keep: got ${message}`);
});

test("ids to keep that a background, a gap or open classes may have are left to the decoder", () => {
  for (const [options, id] of [
    [{ labels: ["person", "cat"] }, 2],
    [{ labels: "coco80" }, 90],
    [{}, 500],
  ] as const)
    expect(readConfig({ family: "ssd", ...options, keep: [id] }, {}).keep).toEqual([id]);
});
