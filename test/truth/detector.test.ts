/**
 * Photos through createDetector, by networks as their authors publish them. The objects are those that each network's
 * own preparation and a simple decoder found (`naiveDetections` of the recorded meta.json).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { ConfigError, type DetectorOptions, createDetector, onnxRuntime } from "../../src/entries/index.ts";
import { describeShared, readBytes, readJson } from "../support/shared-data.ts";

interface Case {
  readonly model: string;
  readonly photos: readonly string[];
  /** What the file does not state. */
  readonly options?: DetectorOptions;
  /** Class id of the recorded class 0. */
  readonly firstClass?: number;
}

const PHOTOS = ["astronaut", "chelsea", "coffee"];
const CASES: readonly Case[] = [
  { model: "yolox_nano", photos: PHOTOS },
  { model: "nanodet_m_320", photos: PHOTOS },
  // Two of its boxes of one person overlap by 0.449. The recorder's arithmetic put them above 0.45.
  {
    model: "FastestDet",
    photos: PHOTOS,
    options: { family: "fastestdet", classes: 80, iouThreshold: 0.445 },
  },
  { model: "version-RFB-320", photos: ["astronaut"], options: { family: "ultraface" }, firstClass: 1 },
  {
    model: "version-RFB-320_without_postprocessing",
    photos: ["astronaut"],
    options: { family: "ultraface", variances: [0.1, 0.1, 0.2, 0.2] },
    firstClass: 1,
  },
];

interface Naive {
  readonly cls: number;
  readonly score: number;
  /** Corners in pixels of the photo. */
  readonly box: readonly [number, number, number, number];
}

/** Overlap of two boxes of corners. */
function iou(a: readonly number[], b: readonly number[]): number {
  const side = (low: number, high: number): number => Math.max(0, high - low);
  const area = (c: readonly number[]): number => side(c[0], c[2]) * side(c[1], c[3]);
  const both =
    side(Math.max(a[0], b[0]), Math.min(a[2], b[2])) * side(Math.max(a[1], b[1]), Math.min(a[3], b[3]));
  return both / (area(a) + area(b) - both);
}

describeShared("photos through createDetector", (data) => {
  const quiet = { logSeverityLevel: 3 };
  const open = async (model: string, options?: DetectorOptions) => {
    const runtime = onnxRuntime(await import("onnxruntime-node"), quiet);
    return createDetector({ model: readBytes(data, "models", `${model}.onnx`), runtime }, options);
  };

  test.each(CASES.map((c) => [c.model, c] as const))("%s finds the recorded objects", async (model, c) => {
    const { photos, options, firstClass = 0 } = c;
    const detector = await open(model, options);
    for (const photo of photos) {
      const image = PNG.sync.read(readFileSync(join(data, "photos", `${photo}.png`)));
      const { width, height } = image;
      const found = (await detector.detect(image)).toArray();
      const { naiveDetections } = readJson(data, "recorded", model, photo, "meta.json") as {
        naiveDetections: Naive[];
      };
      expect(naiveDetections.length, photo).toBeGreaterThan(0);
      for (const { cls, score, box } of naiveDetections) {
        const same = found.filter(
          (d) =>
            d.class_id === cls + firstClass &&
            iou(box, [d.x_min * width, d.y_min * height, d.x_max * width, d.y_max * height]) > 0.9,
        );
        expect(same, `${photo}: class ${cls}, ${score}`).toHaveLength(1);
        expect(Math.abs(same[0].confidence - score), `${photo}: class ${cls}`).toBeLessThan(0.02);
      }
      // Nothing else is as sure as the surest.
      expect(found[0].class_id).toBe(naiveDetections[0].cls + firstClass);
    }
    await detector.close();
  });

  test.each(CASES.filter(({ options }) => options).map(({ model }) => model))(
    "%s without options: the error says what is missing",
    async (model) => {
      await expect(open(model)).rejects.toBeInstanceOf(ConfigError);
      await expect(open(model)).rejects.toThrow(/^family: got outputs .* expected the option family/);
    },
  );

  test("offsets that are taken for boxes are refused, with the option that settles it", async () => {
    const detector = await open("version-RFB-320_without_postprocessing", { family: "ultraface" });
    const image = PNG.sync.read(readFileSync(join(data, "photos/astronaut.png")));
    await expect(detector.detect(image)).rejects.toThrow(
      "if these are offsets from prior boxes, say variances",
    );
  });
});
