/**
 * Other projects' own code read these exports once: pycocotools, supervision, Triton's HTTP client. What they read is
 * kept, with the exports as they were. BOXWRIGHT_PACKET_SAMPLES names a folder to write the exports to, for
 * scripts/packet-readers.py.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toCoco, toRoboflow, toSupervision } from "../../src/entries/index.ts";
import { detections, image, raw, samples } from "./samples.ts";

const folder = process.env.BOXWRIGHT_PACKET_SAMPLES;
if (folder) {
  writeFileSync(
    join(folder, "samples.json"),
    JSON.stringify({ ...samples, raw: Buffer.from(raw).toString("base64") }),
  );
  writeFileSync(join(folder, "raw.bin"), raw);
}
const kept = new URL("../fixtures/packet/", import.meta.url);
const json = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(name, kept), "utf8")) as Record<string, unknown>;

test("the exports are those that were read", () => {
  expect({ ...samples, raw: Buffer.from(raw).toString("base64") }).toEqual(json("samples.json"));
});

describe("what was read is what was meant", () => {
  const { read } = json("readers.json") as { read: Record<string, unknown> };
  // By hand, in pixels of 640 x 480.
  const xyxy = [
    [160, 240, 480, 480],
    [0, 60, 320, 180],
  ];
  const columns = { xyxy, confidence: [0.75, 0.5], class_id: [1, 0], class_name: ["cat", "person"] };
  test("by pycocotools", () => {
    expect(read.coco).toEqual([
      { image_id: 7, category_id: 17, bbox: [160, 240, 320, 240], area: 76800, score: 0.75 },
      { image_id: 7, category_id: 1, bbox: [0, 60, 320, 120], area: 38400, score: 0.5 },
    ]);
  });
  test("by supervision, from Roboflow's form and from columns", () => {
    expect(read.roboflow).toEqual(columns);
    expect(read.supervision).toEqual(columns);
  });
  test("by Triton's client", () => {
    expect(read.triton).toEqual({
      boxes: { shape: [1, 2, 2], values: [0.5, -1, 2, 65504] },
      half: { shape: [2], values: [1, -2] },
      small: { shape: [3], values: [1, -2, 3] },
    });
  });
});

test("sizes and categories are checked; no detections are no results", () => {
  for (const run of [toCoco, toRoboflow, toSupervision] as ((d: readonly never[], i: object) => unknown)[])
    for (const size of [
      {},
      { width: 0, height: 1 },
      { width: 1, height: Infinity },
      { width: NaN, height: 1 },
    ])
      expect(() => run([], size)).toThrow(/image: got .*, expected its size in pixels/);
  expect(() => toCoco(detections, { ...image, categories: [1] })).toThrow(
    /categories: got \[1\], expected an id for class 1/,
  );
  expect(toCoco(detections, { ...image, categories: undefined })[0].category_id).toBe(1);
  expect(toCoco([], image)).toEqual([]);
  expect(toRoboflow([], image)).toEqual({ image: { width: 640, height: 480 }, predictions: [] });
  expect(toSupervision([], image)).toEqual({
    xyxy: [],
    confidence: [],
    class_id: [],
    data: { class_name: [] },
  });
});
