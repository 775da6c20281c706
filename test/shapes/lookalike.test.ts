/** Adds a family that looks like YOLOv8 as one row of `core/families/`. Decoder and `inspect` need nothing else. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type * as Entries from "../../src/entries/index.ts";
import type * as Maps from "../../src/core/families/maps.ts";
import type * as Inspect from "../../src/node/inspect-tensors.ts";
import type { TypedOptions } from "../../src/config/types.ts";

// The family is YOLOv8 with one unread channel after the class scores.
const family = "yolov8-odd" as TypedOptions["family"];
const INPUT = [64, 64] as const;
const CELLS = 84;

let entries: typeof Entries;
let inspect: (typeof Inspect)["inspect"];

beforeAll(async () => {
  vi.resetModules();
  vi.doMock("../../src/core/families/maps.ts", async (original) => {
    const { MAP_FAMILIES } = await original<typeof Maps>();
    const row = {
      ...MAP_FAMILIES.yolov8,
      like: "yolov8",
      ignored: 1,
      suggested: undefined,
      subtypes: [],
      version: "8-odd",
    };
    return { MAP_FAMILIES: { ...MAP_FAMILIES, [family]: row } };
  });
  entries = await import("../../src/entries/index.ts");
  ({ inspect } = await import("../../src/node/inspect-tensors.ts"));
});

afterAll(() => {
  vi.doUnmock("../../src/core/families/maps.ts");
  vi.resetModules();
});

/** Returns planes that are 0, except for one object: `channels` has its values at cell 3. */
function planesOf(channels: readonly number[]) {
  const data = new Float32Array(channels.length * CELLS);
  channels.forEach((value, k) => (data[k * CELLS + 3] = value));
  return { data, dims: [1, channels.length, CELLS] };
}

const decode = (options: Partial<TypedOptions>, outputs: Parameters<Entries.Decoder["decode"]>[0]) =>
  entries
    .createDecoderSync({ family, inputSize: INPUT, ...options })
    .decode(outputs)
    .toArray();

test("the ignored channel is not read", () => {
  const [found, ...others] = decode({ classes: 2 }, [planesOf([32, 16, 16, 16, 0.25, 0.75, 99])]);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ class_id: 1, confidence: 0.75, x_min: 0.375, y_min: 0.125 });
});

test("channels of a task follow the ignored one", () => {
  const points = [8, 16, 0.5, 24, 32, 0.25];
  const [found] = decode({ classes: 1, task: "pose", keypoints: [2, 3] }, [
    planesOf([32, 16, 16, 16, 0.75, 99, ...points]),
  ]);
  expect(found.keypoints).toMatchObject([
    { x: 0.125, y: 0.25, confidence: 0.5 },
    { x: 0.375, y: 0.5, confidence: 0.25 },
  ]);
});

test("refusals ask for its shapes, and tell class counts by them", () => {
  const refused = () => decode({ classes: 2 }, [planesOf([32, 16, 16, 16, 0, 0, 0, 0.75, 99])]);
  expect(refused).toThrow("[1,N,7]; [1,N,4] + [1,N,3]; [1,8,h,w]; [1,64,h,w] + [1,3,h,w]; [1,67,h,w]");
  expect(refused).toThrow("these shapes would be of 4 or 79 classes");
});

test("inspect offers it with its own class count", () => {
  const ask = (options: object) => {
    const { json } = inspect(null, [{ name: "output0", dims: [1, 85, 8400] }], options);
    return (json as Inspect.PossibilityList).possibilities.map((one) => one.options);
  };
  expect(ask({ family })[0]).toMatchObject({ family, classes: 80 });
  expect(ask({})).toContainEqual(expect.objectContaining({ family, classes: 80 }));
});

test.each([
  ["points of one class", [1, 57, 8400], "pose", 1],
  ["points of a list", [1, 300, 57], "pose", 1],
  ["oriented boxes", [1, 21, 21504], "oriented", 15],
] as const)("inspect offers %s", (_, dims, task, classes) => {
  const { json } = inspect(null, [{ name: "output0", dims: [...dims] }], { family });
  const offered = (json as Inspect.PossibilityList).possibilities.map((one) => one.options);
  expect(offered).toContainEqual(expect.objectContaining({ family, task, classes }));
});

test("a name tells it from the family that it looks like", () => {
  const of = (name: string): unknown =>
    (inspect(null, [{ name, dims: [1, 85, 8400] }], {}).json as Inspect.PossibilityList).possibilities[0]
      .options.family;
  expect(of("output_yolov8-odd")).toBe(family);
  expect(of("output_yolov8")).not.toBe(family);
});
