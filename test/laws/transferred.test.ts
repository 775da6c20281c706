/** Memory that was transferred to a thread: an array on it has no elements, and looks like an empty one. */
import { describe, expect, test } from "vitest";
import {
  type Detections,
  createDecoderSync,
  createTracker,
  fuse,
  mergeTiles,
  nms,
  nmsOriented,
  suppress,
  toCoco,
  toPacket,
  toRoboflow,
  toSupervision,
} from "../../src/entries/index.ts";

const SIZE = { width: 20, height: 20 };
const ABOUT = { id: "a", source: "/b", time: new Date(0) };
const decoder = createDecoderSync({ family: "yolo26", classes: 2, inputSize: [20, 20] });

/** Returns an array of which another thread has the memory. */
function transferred(length: number): Float32Array {
  const array = new Float32Array(length);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

/** Returns a clone of one detection, whose boxes went to another thread. */
function cloneWithoutBoxes(): Detections {
  const data = Float32Array.of(2, 2, 8, 8, 0.9, 1);
  const clone = structuredClone(decoder.decode([{ data, dims: [1, 1, 6] }]));
  const buffer = clone.boxes.buffer as ArrayBuffer;
  structuredClone(buffer, { transfer: [buffer] });
  return clone;
}

describe("is refused as", () => {
  const told = /boxes: got transferred memory, expected an array of numbers/;
  test.each([
    ["nms", () => nms(transferred(8), transferred(2))],
    ["suppress", () => suppress(transferred(8), transferred(2))],
    ["nmsOriented", () => nmsOriented(transferred(10), transferred(2))],
    ["fuse", () => fuse([{ boxes: transferred(8), scores: transferred(2) }])],
  ])("boxes of %s", (_, use) => {
    expect(use).toThrow(told);
  });

  const uses: [string, (detections: never) => unknown][] = [
    ["toCoco", (d) => toCoco(d, { ...SIZE, imageId: 1 })],
    ["toRoboflow", (d) => toRoboflow(d, SIZE)],
    ["toSupervision", (d) => toSupervision(d, SIZE)],
    ["toPacket", (d) => toPacket(decoder, d, undefined, ABOUT)],
    ["createTracker", (d) => createTracker({ size: [20, 20] }).update(d, 1)],
    ["mergeTiles", (d) => mergeTiles([20, 20], [[{ x: 0, y: 0, ...SIZE }, d]])],
  ];
  test.each(uses)("a column of detections, by %s", (_, use) => {
    expect(() => use(cloneWithoutBoxes() as never)).toThrow(/detections/);
  });
  test.each(uses)("a list of detections, by %s", (_, use) => {
    expect(() => use(transferred(8) as never)).toThrow(/got .*, expected/);
  });
});

test("toRoboflow refuses a symbol as the name of the frame", () => {
  expect(() => toRoboflow([], SIZE, Symbol("frame") as never)).toThrow(
    "id: got Symbol(frame), expected text that names the frame",
  );
});
