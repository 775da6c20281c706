/** Values of other programs that JavaScript converts, wraps or shares without a word. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as core from "../../src/entries/core.ts";
import * as boxwright from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import * as plan from "../../src/entries/plan.ts";
import {
  createDecoderSync,
  drawSvg,
  fromPacket,
  fuse,
  labelsOf,
  orientedIou,
  prepareImage,
  readModel,
  suppress,
  toCoco,
  toPacket,
} from "../../src/entries/index.ts";

const CONFIG = { family: "yolov8", labels: ["person", "cat"], inputSize: [64, 64] } as const;
const CAT = { class_id: 1, label: "cat", confidence: 0.5, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("lists that the package exports", () => {
  const isFrozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  const lists = Object.entries(boxwright).filter(([, value]) => typeof value === "object");
  test.each(lists)("%s cannot be changed: every decoder shares it", (_, list) => {
    expect(isFrozen(list)).toBe(true);
  });
  test("the names of a set cannot be sorted in place", () => {
    expect(() => (labelsOf("coco80") as string[]).sort()).toThrow(TypeError);
    expect(labelsOf("coco80")[0]).toBe("person");
  });
});

describe("tensors in the JSON of an inference server", () => {
  const read = (datatype: string, data: unknown): unknown => {
    const outputs = [{ name: "a", datatype, shape: [1], data }];
    return fromPacket(bytesOf({ model_name: "m", outputs })).tensors[0].data[0];
  };
  test.each([
    ["UINT8", 300],
    ["UINT8", -1],
    ["INT8", 200],
    ["INT16", 40000],
    ["INT32", 3e9],
    ["UINT32", -1],
    ["UINT64", -1],
    ["FP32", 1e39],
  ])("%s does not hold %s", (datatype, value) => {
    expect(() => read(datatype, [value])).toThrow(
      `packet is foreign: outputs[0].data: got [${value}], expected 1 elements of ${datatype}`,
    );
  });
  test("the ends of each range are read", () => {
    expect([read("UINT8", [255]), read("INT8", [-128]), read("INT32", [-(2 ** 31)])]).toEqual([
      255,
      -128,
      -(2 ** 31),
    ]);
    expect([read("INT64", [-5]), read("FP32", [0.1]), read("FP64", [1e300])]).toEqual([
      -5n,
      Math.fround(0.1),
      1e300,
    ]);
  });
  test("a shape of texts is refused", () => {
    const outputs = [{ name: "a", datatype: "FP32", shape: ["1"], data: [1] }];
    expect(() => fromPacket(bytesOf({ model_name: "m", outputs }))).toThrow("packet is foreign: outputs[0]");
  });
});

describe("records of a detection packet", () => {
  const decoder = createDecoderSync(CONFIG);
  const data = new Float32Array(6 * 84);
  [32, 16, 20, 24, 0, 0.9].forEach((value, channel) => (data[channel * 84] = value));
  const found = decoder.decode([{ data, dims: [1, 6, 84] }]);
  const text = new TextDecoder().decode(toPacket(decoder, found, null, { id: "1", source: "/a" }));
  const packet = (change: (data: Record<string, unknown>) => void): Uint8Array => {
    const event = JSON.parse(text) as { data: Record<string, unknown> };
    change(event.data);
    return bytesOf(event);
  };
  test.each([[null], [[]], [true], [""], ["1"]])("a class id of %j is none", (id) => {
    const bytes = packet(({ detections }) => ((detections as { class_id: unknown }[])[0].class_id = id));
    expect(() => fromPacket(bytes)).toThrow("packet is foreign: data.detections[0]: got");
  });
  test("a text is no list of detections", () => {
    expect(() => fromPacket(packet((d) => (d.detections = "")))).toThrow("data.detections[0]: got");
    expect(() => toCoco("" as never, { imageId: 1, width: 4, height: 4 })).toThrow("detections[0]: got");
  });
  test.each([["x"], [5], [{}], [[-1]], [[0.5]], [[null]]])("cells of %j are none", (sources) => {
    expect(() => fromPacket(packet((d) => (d.sources = sources)))).toThrow(
      "packet is foreign: data.sources: got",
    );
  });
});

test("COCO results hold no NaN: a keypoint without a place is one that is not labelled", () => {
  const keypoints = [
    { x: 0.5, y: 0.5, confidence: 1 },
    { x: NaN, y: 0.5, confidence: 1 },
    { x: 0.5, y: Infinity, confidence: 1 },
  ];
  const [result] = toCoco([{ ...CAT, keypoints }], { imageId: 1, width: 640, height: 480 });
  expect(result.keypoints).toEqual([320, 240, 1, 0, 0, 0, 0, 0, 0]);
});

test.each(["weighted", "nmw", "merge", "matrix", "soft-gaussian"] as const)(
  "an infinite score is refused by %s, which would multiply by it",
  (method) => {
    expect(() => suppress([0, 0, 1, 1], [Infinity], { method })).toThrow(
      `scores[0]: got Infinity for "${method}", which multiplies scores`,
    );
    expect([...suppress([0, 0, 1, 1], [Infinity]).indices]).toEqual([0]);
  },
);

test("fuse refuses an infinite score", () => {
  expect(() => fuse([{ boxes: [0, 0, 1, 1], scores: [Infinity] }])).toThrow(
    "models[0].scores[0]: got Infinity, expected finite scores, which weigh the boxes",
  );
});

test("orientedIou refuses degrees, as nmsOriented and regularise do", () => {
  expect(() => orientedIou([0, 0, 9, 5, 90], [0, 0, 9, 5, 0], "polygon")).toThrow(
    "a: got the angle 90, expected radians, not degrees",
  );
});

test("tasks of plan files are not those of configs, and the other way round", () => {
  const poseConfig = { family: "yolov8", task: "pose", classes: 1, keypoints: [2, 3], inputSize: [64, 64] };
  const expected = "expected a list of tasks such as [pose, masks], which the same import exports";
  expect(() => core.createDecoderSync(poseConfig, { tasks: [plan.pose as never] })).toThrow(expected);
  const bytes = compilePlan(poseConfig, { outputs: [{ name: "output0", dims: [1, 11, 84] }] });
  expect(() => plan.loadPlanSync(bytes, { tasks: [core.pose as never] })).toThrow(expected);
  expect(plan.loadPlanSync(bytes, { tasks: [plan.pose] }).inputSize).toEqual([64, 64]);
});

describe("drawing", () => {
  const photo = readFileSync("test/fixtures/photos/chelsea.png");
  test.each([
    [{ edges: "0-1" }, 'edges: got "0-1", expected pairs of keypoints, counted from 0'],
    [{ edges: [[0]] }, "edges: got [[0]], expected pairs of keypoints"],
    [{ title: 5 }, "title: got 5, expected a text"],
  ])("options of another type: %j", (options, message) => {
    expect(() => drawSvg(photo, [CAT], options as never)).toThrow(message);
  });
  test("the beginning of a photo is named as one", () => {
    expect(() => drawSvg(photo.subarray(0, 20), [CAT])).toThrow(
      "photo: got the first 20 bytes of a PNG, expected a whole file: is the file cut short?",
    );
    expect(() => drawSvg(Buffer.from("GIF89a.."), [CAT])).toThrow(
      "got a file that begins with 47 49 46 38 39 61 2e 2e, as a GIF does, expected a PNG or JPEG",
    );
  });
  test("a photo is no model", async () => {
    await expect(readModel(photo)).rejects.toThrow("got the file of a photo, expected ONNX, TFLite");
  });
});

test("channels that contradict the format of an image", () => {
  const image = { data: new Uint8Array(16), width: 2, height: 2 };
  const prepare = (more: object) => () => prepareImage({ ...image, ...more } as never, { size: [2, 2] });
  expect(prepare({ format: "rgb", channels: 4 })).toThrow(
    'image: channels: got 4 beside format "rgb", expected 3, or one of the two alone',
  );
  expect(prepare({ format: "rgba", channels: 3 })).toThrow('got 3 beside format "rgba", expected 4');
  for (const more of [{ format: "bgr", channels: 3 }, { channels: 4 }, { format: "raw", channels: 3 }])
    expect(prepare({ ...more, data: new Uint8Array(more.channels * 4) })).not.toThrow();
});
