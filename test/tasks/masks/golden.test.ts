/** Masks of seeded networks against answers computed in doubles by plain formulas (fixtures/beyond/README.md). */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../../src/entries/index.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { engines } from "../../support/engines.ts";
import { type GoldenMask, countDiffering, pixelsOf, wholePicture } from "../../support/mask-pixels.ts";
import { type StoredOutput, fixtures, readJson, readTensors } from "../../support/shared-data.ts";

interface Case {
  readonly input: { readonly width: number; readonly height: number };
  readonly classes: number;
  readonly outputs: readonly StoredOutput[];
  readonly detections: readonly {
    readonly row: number;
    readonly class_id: number;
    readonly confidence: number;
    readonly x_min: number;
    readonly masks: { readonly [R in "proto" | "input" | "input_crop_first"]: GoldenMask };
    readonly least_logit: number;
  }[];
}

const SIZES = { proto: "prototype", input: "network", input_crop_first: "network" } as const;

const folder = (task: string): string => join(fixtures, "beyond", "heads", task);

/** Moves channels to the end. */
function toNhwc({ data, dims }: TensorInput): TensorInput {
  const [n, c, h, w] = dims;
  const moved = new Float32Array(data.length);
  for (let k = 0; k < c; k++)
    for (let i = 0; i < h * w; i++) moved[i * c + k] = (data as Float32Array)[k * h * w + i];
  return { data: moved, dims: [n, h, w, c] };
}

const RAW = ["box3", "cls3", "coef3", "box4", "cls4", "coef4", "box5", "cls5", "coef5", "output1"];

describe.each(engines)("%s", (engine) => {
  test.each([
    ["seg_v8", "yolov8", ["output0", "output1"], false],
    ["seg_v8", "yolov8", ["output0", "output1"], true],
    ["seg_v8", "yolov8", RAW, false],
    ["seg_26", "yolo26", ["output0", "output1"], false],
    ["seg_26", "yolo26", ["output0", "output1"], true],
  ] as const)("%s, %s, %s, NHWC %s", (task, family, names, isNhwc) => {
    const golden = readJson(folder(task), "fixture.json") as Case;
    const outputs: Record<string, TensorInput> = readTensors(
      folder(task),
      golden.outputs.filter(({ name }) => (names as readonly string[]).includes(name)),
    );
    expect(Object.keys(outputs)).toHaveLength(names.length);
    if (isNhwc) outputs.output1 = toNhwc(outputs.output1);
    const decoder = createDecoderSync(
      {
        family,
        classes: golden.classes,
        inputSize: [golden.input.width, golden.input.height],
        task: "segment",
        coordinates: names.length > 2 ? undefined : "pixels",
      },
      {
        engine,
        confidenceThreshold: 0.26,
        iouThreshold: 0.45,
        rules: { clamp: "none" },
        ...(names.length > 2 && { scores: "logits" }),
      },
    );
    const found = decoder.decode(outputs);
    expect(found.length).toBe(golden.detections.length);
    const copied = found.copy();
    golden.detections.forEach((answer, i) => {
      expect(found.sources[i], `row ${i}`).toBe(answer.row);
      for (const rule of ["proto", "input", "input_crop_first"] as const) {
        const mask = found.mask(i, { size: SIZES[rule], rule });
        const wanted = answer.masks[rule];
        expect([mask.size[1], mask.size[0]]).toEqual(wanted.size);
        const pixels = wholePicture(mask);
        // Only logits within 1e-3 of the threshold may fall on the other side.
        const slack = 0;
        expect(countDiffering(pixels, pixelsOf(wanted)), `${rule} of ${i}`).toBeLessThanOrEqual(slack);
        expect(Math.abs(mask.area - wanted.area)).toBeLessThanOrEqual(slack);
        expect(countDiffering(wholePicture(copied.mask(i, { size: SIZES[rule], rule })), pixels)).toBe(0);
      }
    });
  });
});
