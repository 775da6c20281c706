/** Detections that crossed to another thread, or a JSON, are drawn, tracked and exported as those of `decode` are. */
import { expect, test } from "vitest";
import {
  type Detections,
  createDecoderSync,
  createTracker,
  drawSvg,
  toCoco,
  toPixels,
  toSupervision,
} from "../../src/entries/index.ts";
import { readFixture } from "../support/files.ts";

const photo = readFixture("photos/chelsea.png");
const size = { width: 451, height: 300 };

/** Returns the value of a channel: the box, two scores, then points in pixels with a probability each. */
function valueOf(channel: number, cell: number): number {
  if (channel < 4) return [10 + cell * 0.6, 32, 12, 20][channel];
  if (channel < 6) return 0.3 + cell / 200;
  return channel === 8 || channel === 11 ? 0.7 : 20 + channel;
}

/** Returns three detections of a network with so many values beside box and class, of eight cells. */
function decodeWith(options: object, extra: number): Detections {
  const decoder = createDecoderSync({
    family: "yolov8",
    labels: ["person", "cat"],
    inputSize: [64, 64],
    maxDetections: 5,
    ...options,
  });
  const channels = 6 + extra;
  const data = new Float32Array(channels * 84);
  for (const cell of [3, 20, 70]) for (let c = 0; c < channels; c++) data[c * 84 + cell] = valueOf(c, cell);
  return decoder.decode({ output0: { data, dims: [1, channels, 84] } });
}

test.each([
  ["boxes", {}, 0],
  ["pose", { task: "pose", keypoints: [2, 3] }, 6],
  ["oriented", { task: "oriented" }, 1],
] as const)("%s", (_, options, extra) => {
  const found = decodeWith(options, extra);
  expect(found.length).toBe(3);
  const plain: unknown = JSON.parse(JSON.stringify(found));
  const others = [structuredClone(found), structuredClone(found.copy()), plain as Detections];
  for (const other of others) {
    // A list has no edges of its own.
    const edges = found.edges;
    expect(drawSvg(photo, other, { edges })).toBe(drawSvg(photo, found, { edges }));
    expect(toCoco(other, { imageId: 1, ...size })).toEqual(toCoco(found, { imageId: 1, ...size }));
    expect(toSupervision(other, size)).toEqual(toSupervision(found, size));
    const ids = (detections: Detections): number[] => [
      ...createTracker({ method: "bytetrack", size: [451, 300], perClass: true }).update(detections, 0),
    ];
    expect(ids(other)).toEqual(ids(found));
  }
  const [first] = plain as Detections;
  expect({ ...toPixels(first, 451, 300) }).toEqual({ ...toPixels(found.at(0)!, 451, 300) });
});

test("columns that are none are told", () => {
  expect(() => drawSvg(photo, { length: 1 } as never)).toThrow(
    /got detections .*expected what decode returned/,
  );
  expect(() => createTracker({ method: "sort" }).update([{ x_min: 1 }] as never, 0)).toThrow(
    /boxes\[0\]: got 1, undefined/,
  );
});
