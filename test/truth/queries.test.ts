/** Masks and keypoints of networks with queries, against the golden answers, in three engines. */
import { expect, test } from "vitest";
import { createDecoderSync, labelMap } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";
import { readGoldenFamily } from "../support/golden-families.ts";
import { countDiffering, pixelsOf, wholePicture } from "../support/mask-pixels.ts";
import { describeShared } from "../support/shared-data.ts";

describeShared("golden keypoints of queries", (data) => {
  const { fixture, outputs } = readGoldenFamily(data, "rfdetr-keypoints");
  const { width, height } = fixture.input;

  test.each(engines)("rfdetr-keypoints: points, their confidences, and the score of both, %s", (engine) => {
    const decoder = createDecoderSync(
      {
        family: "rfdetr",
        task: "pose",
        classes: 1,
        keypoints: [5, 3],
        inputSize: [width, height],
        confidenceThreshold: fixture.gate,
        rules: { clamp: "none" },
      },
      { engine },
    );
    const found = decoder.decode(outputs);
    for (const kept of [found, found.copy(), structuredClone(found.copy())]) {
      expect(kept.length).toBe(fixture.detections.length);
      fixture.detections.forEach(({ row, confidence, fused_confidence = NaN, keypoints = [] }, i) => {
        expect(kept.sources[i]).toBe(row);
        expect(Math.abs(kept.scores[i] - confidence)).toBeLessThan(1e-4);
        expect(Math.abs((kept.fusedScores?.[i] ?? NaN) - fused_confidence)).toBeLessThan(1e-4);
        keypoints.flat().forEach((value, k) => {
          expect(Math.abs((kept.keypoints?.[15 * i + k] ?? NaN) - value)).toBeLessThan(1e-4);
        });
      });
    }
    expect(found.at(0)?.fused_confidence).toBeCloseTo(0.697516561, 5);
  });
});

describeShared("golden masks of queries", (data) => {
  const { fixture, outputs } = readGoldenFamily(data, "rfdetr-seg");
  const { width, height } = fixture.input;
  const options: TypedOptions = {
    family: "rfdetr",
    task: "segment",
    classes: fixture.classes,
    inputSize: [width, height],
    confidenceThreshold: fixture.gate,
    rules: { clamp: "none" },
  };
  const frame = { width: 96, height: 64, resize: "stretch" } as const;
  const SIZES = { frame: "frame", native: "prototype" } as const;

  test.each(engines)("rfdetr-seg: the box does not cut the mask, %s", (engine) => {
    const decoder = createDecoderSync(options, { engine });
    const found = decoder.decode(outputs, frame);
    const copy = found.copy();
    for (const kept of [found, copy])
      fixture.detections.forEach(({ masks = {}, uncertain = {} }, row) => {
        for (const [name, size] of Object.entries(SIZES)) {
          const mask = kept.mask(row, { size });
          const golden = masks[name];
          const wrong = countDiffering(wholePicture(mask), pixelsOf(golden));
          expect(wrong, `row ${row}, ${name}`).toBeLessThanOrEqual(uncertain[name]);
        }
      });
    // Later frames change the maps in memory, not those of the copy.
    const first = copy.mask(0).data.slice();
    decoder.decode({ ...outputs, masks: { ...outputs.masks, data: new Float32Array(12 * 26 * 26) } }, frame);
    expect(copy.mask(0).data).toEqual(first);
    expect(found.mask(0).data.every((p) => p === 0)).toBe(true);
  });

  test("a label map paints the masks in the order of scores", () => {
    const found = createDecoderSync(options).decode(outputs, frame);
    const { data: labels } = labelMap(found);
    const expected = new Int16Array(96 * 64).fill(-1);
    for (let row = found.length - 1; row >= 0; row--) {
      const mask = found.mask(row);
      for (let y = 0; y < mask.height; y++)
        for (let x = 0; x < mask.width; x++)
          if (mask.data[y * mask.width + x]) expected[(mask.y + y) * 96 + mask.x + x] = row;
    }
    expect([...labels]).toEqual([...expected]);
  });
});
