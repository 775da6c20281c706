/**
 * Networks that mark centres in a map, text, and masks of a fixed size, against the golden answers, in three engines.
 * Coordinates agree to 2e-4 of the input and scores to 1e-4, as the README of the golden cases asks.
 */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import type { Detections } from "../../src/decode/detections.ts";
import type { MaskRule } from "../../src/decode/mask.ts";
import { engines } from "../support/engines.ts";
import { type GoldenBox, readGoldenFamily } from "../support/golden-families.ts";
import { countDiffering, pixelsOf, wholePicture } from "../support/mask-pixels.ts";
import { describeShared } from "../support/shared-data.ts";

/** Options of a case, besides those that its fixture states. */
const OPTIONS: {
  readonly [name: string]: Partial<TypedOptions> & { readonly family: TypedOptions["family"] };
} = {
  "fomo-f32": { family: "fomo" },
  "fomo-i8": { family: "fomo" },
  "recorded-fomo": { family: "fomo" },
  centernet: { family: "centernet" },
  "face-det-lite": { family: "face-det-lite" },
  maskrcnn: { family: "mask-rcnn", coordinates: "pixels" },
  "rtmdet-ins": { family: "rtmdet-ins" },
};

function expectBoxes(found: Detections, expected: readonly GoldenBox[]): void {
  expect(found.length).toBe(expected.length);
  expected.forEach((box, i) => {
    const got = found.at(i);
    expect(got?.class_id).toBe(box.class_id);
    expect(Math.abs((got?.confidence ?? NaN) - box.confidence)).toBeLessThan(1e-4);
    for (const side of ["x_min", "y_min", "x_max", "y_max"] as const)
      expect(Math.abs((got?.[side] ?? NaN) - box[side]), `${side} of ${i}`).toBeLessThan(2e-4);
    box.keypoints?.forEach(([x, y], k) => {
      expect(Math.abs((got?.keypoints?.[k].x ?? NaN) - x)).toBeLessThan(1e-4);
      expect(Math.abs((got?.keypoints?.[k].y ?? NaN) - y)).toBeLessThan(1e-4);
    });
  });
}

describeShared("golden cells, text and masks", (data) => {
  for (const engine of engines)
    test.each(Object.keys(OPTIONS))(`%s, ${engine}`, (name) => {
      const { fixture, outputs } = readGoldenFamily(data, name);
      const { width, height } = fixture.input;
      const options = {
        ...OPTIONS[name],
        inputSize: [width, height],
        confidenceThreshold: fixture.gate,
        rules: { clamp: "none" },
        ...(fixture.iou !== undefined && { iouThreshold: fixture.iou }),
      } as TypedOptions;
      const decoder = createDecoderSync(options, { engine });
      expectBoxes(decoder.decode(outputs, { width, height, resize: "stretch" }), fixture.detections);
      if (fixture.components) {
        const enclosing = createDecoderSync({ ...options, cellGroups: "enclosing" }, { engine });
        expectBoxes(enclosing.decode(outputs), fixture.components);
      }
    });

  test.each(["maskrcnn", "rtmdet-ins"])("masks of %s", (name) => {
    const { fixture, outputs } = readGoldenFamily(data, name);
    const { width, height } = fixture.input;
    const decoder = createDecoderSync({
      ...OPTIONS[name],
      inputSize: [width, height],
      confidenceThreshold: fixture.gate,
    } as TypedOptions);
    const found = decoder.decode(outputs);
    for (const kept of [found, found.copy()])
      fixture.detections.forEach(({ masks = {}, uncertain = {} }, row) => {
        for (const [rule, golden] of Object.entries(masks)) {
          const named =
            rule === "network" ? {} : { rule: (rule === "detectron" ? "detectron2" : rule) as MaskRule };
          const mask = kept.mask(row, named);
          const wrong = countDiffering(wholePicture(mask), pixelsOf(golden));
          expect(wrong, `row ${row}, ${rule}`).toBeLessThanOrEqual(uncertain[rule] ?? 0);
        }
      });
  });

  for (const engine of engines)
    test.each(["dbnet-text", "recorded-ppocr"])(`%s, ${engine}`, (name) => {
      const { fixture, outputs } = readGoldenFamily(data, name);
      const { width, height } = fixture.input;
      const decoder = createDecoderSync({ family: "dbnet" }, { engine });
      const found = decoder.decode(outputs);
      expect(found.length).toBe(fixture.detections.length);
      fixture.detections.forEach(({ corners = [], confidence }, row) => {
        const got = found.at(row);
        expect(Math.abs((got?.confidence ?? NaN) - confidence)).toBeLessThan(2.3e-3);
        for (const [x, y] of corners) {
          const near =
            got?.corners?.map((p) => Math.max(Math.abs(p.x * width - x), Math.abs(p.y * height - y))) ?? [];
          expect(Math.min(...near)).toBeLessThan(0.01);
        }
      });
    });

  test.each([...Object.keys(OPTIONS), "dbnet-text", "recorded-ppocr"])(
    "%s: the engines agree to the byte",
    (name) => {
      const { fixture, outputs } = readGoldenFamily(data, name);
      const { width, height } = fixture.input;
      const bytesBy = engines.map((engine) => {
        const options = {
          ...(OPTIONS[name] ?? { family: "dbnet" }),
          inputSize: [width, height],
        } as TypedOptions;
        const found = createDecoderSync(options, { engine }).decode(outputs, {
          width: 300,
          height: 200,
          resize: "letterbox",
        });
        const { boxes, scores, classIds, sources, keypoints, corners, angles } = found.copy();
        return [boxes, scores, classIds, sources, keypoints, corners, angles].map(
          (column) => column && [...new Uint8Array(column.buffer, column.byteOffset, column.byteLength)],
        );
      });
      expect(bytesBy[0][0]?.length).toBeGreaterThan(0);
      expect(bytesBy[1]).toEqual(bytesBy[0]);
      expect(bytesBy[2]).toEqual(bytesBy[0]);
    },
  );
});
