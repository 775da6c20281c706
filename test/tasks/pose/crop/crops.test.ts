/** Crops of one object against spec/crops.ts, on random boxes and points, and their exact inverse. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as spec from "../../../../spec/crops.ts";
import { type Crop, mapOfCrop } from "../../../../src/core/crop.ts";
import { createDecoderSync } from "../../../../src/whole/decoder.ts";
import type { DetectionFields } from "../../../../src/decode/detections.ts";
import { cropOf, nextCropOf } from "../../../../src/entries/index.ts";
import { readFamily } from "../../../support/families.ts";
import { describeShared } from "../../../support/shared-data.ts";

const IMAGE = { width: 640, height: 480 };
const SIZE = [640, 480] as const;
const unit = fc.double({ min: 0.02, max: 0.98, noNaN: true });
const point = fc.tuple(unit, unit);
const side = fc.double({ min: 0.01, max: 0.9, noNaN: true });

interface Given {
  readonly corner: readonly [number, number];
  readonly sides: readonly [number, number];
  readonly points: readonly (readonly [number, number])[];
}
/** True for one point twice, and for two whose direction is more than rounding. */
const hasDirection = ([ax, ay]: readonly number[], [bx, by]: readonly number[]): boolean =>
  (ax === bx && ay === by) || Math.hypot(ax - bx, ay - by) > 1e-6;
/** Points of which some are there twice, as those of a face seen from the side can be. */
const sevenPoints = fc.oneof(
  { weight: 4, arbitrary: fc.array(point, { minLength: 7, maxLength: 7 }) },
  fc.tuple(point, point).map(([a, b]) => [a, a, a, b, b, b, a]),
);
const given = fc.record({
  corner: point,
  sides: fc.tuple(side, side),
  points: sevenPoints.filter((points) =>
    points.every((a, i) => points.slice(i + 1).every((b) => hasDirection(a, b))),
  ),
});

const detectionOf = ({ corner: [x, y], sides: [w, h], points }: Given): DetectionFields => ({
  class_id: 0,
  label: "0",
  confidence: 1,
  x_min: x,
  y_min: y,
  x_max: x + w,
  y_max: y + h,
  keypoints: points.map(([px, py]) => ({ x: px, y: py, confidence: 1 })),
});
const cornersOf = ({ corner: [x, y], sides: [w, h] }: Given): spec.Corners => [
  x * SIZE[0],
  y * SIZE[1],
  (x + w) * SIZE[0],
  (y + h) * SIZE[1],
];
const pixels = ([x, y]: readonly [number, number]): spec.Point => [x * SIZE[0], y * SIZE[1]];

/** Holds a crop against that of the specification. Angles of half a turn have two signs. */
function expectCrop(crop: Crop, { centre, sides, angle }: spec.CropSpec, tolerance = 1e-6): void {
  expect(Math.abs(crop.cx - centre[0])).toBeLessThan(tolerance);
  expect(Math.abs(crop.cy - centre[1])).toBeLessThan(tolerance);
  expect(Math.abs(crop.width - sides[0])).toBeLessThan(tolerance);
  expect(Math.abs(crop.height - sides[1])).toBeLessThan(tolerance);
  const turn = (crop.angle ?? 0) - angle;
  expect(Math.abs(Math.sin(turn / 2))).toBeLessThan(tolerance);
}

const decoderOf = (family: "rtmpose" | "face-mesh" | "hand-landmarks" | "pose-landmarks") =>
  createDecoderSync({ family, inputSize: family === "rtmpose" ? [192, 256] : [192, 192] });

describe("crops of detections", () => {
  test("persons: a quarter larger, in the input's proportions", () => {
    const decoder = decoderOf("rtmpose");
    fc.assert(
      fc.property(given, (g) =>
        expectCrop(cropOf(decoder, detectionOf(g), IMAGE), spec.personCrop(cornersOf(g), [192, 256])),
      ),
    );
  });

  test("faces: eyes level", () => {
    const decoder = decoderOf("face-mesh");
    fc.assert(
      fc.property(given, (g) =>
        expectCrop(
          cropOf(decoder, detectionOf(g), IMAGE),
          spec.faceCrop(cornersOf(g), [pixels(g.points[0]), pixels(g.points[1])]),
        ),
      ),
    );
  });

  test("hands: wrist below the middle finger", () => {
    const decoder = decoderOf("hand-landmarks");
    fc.assert(
      fc.property(given, (g) =>
        expectCrop(
          cropOf(decoder, detectionOf(g), IMAGE),
          spec.handCrop(cornersOf(g), pixels(g.points[0]), pixels(g.points[2])),
        ),
      ),
    );
  });

  test("bodies: a circle", () => {
    const decoder = decoderOf("pose-landmarks");
    fc.assert(
      fc.property(given, (g) =>
        expectCrop(
          cropOf(decoder, detectionOf(g), IMAGE),
          spec.bodyCrop(pixels(g.points[0]), pixels(g.points[1])),
        ),
      ),
    );
  });

  test("a detection without points, or with lost ones, gives an upright crop", () => {
    const bare = { class_id: 0, label: "0", confidence: 1, x_min: 0.1, y_min: 0.2, x_max: 0.3, y_max: 0.3 };
    const decoder = decoderOf("face-mesh");
    const expected = { cx: 128, cy: 120, width: 192, height: 192, angle: 0 };
    expect(cropOf(decoder, bare, IMAGE).angle).toBe(0);
    expectCrop(cropOf(decoder, bare, IMAGE), {
      centre: [expected.cx, expected.cy],
      sides: [expected.width, expected.height],
      angle: 0,
    });
    const lost = {
      ...bare,
      keypoints: [0, 1].map((k) => ({ x: k === 0 ? NaN : 0.2, y: 0.2, confidence: 1 })),
    };
    expect(cropOf(decoder, lost, IMAGE)).toEqual(cropOf(decoder, bare, IMAGE));
  });

  test("the map of a crop is that of the specification, and its inverse undoes it", () => {
    const number = fc.double({ min: -500, max: 1500, noNaN: true });
    const angle = fc.double({ min: -4, max: 4, noNaN: true });
    const length = fc.double({ min: 1, max: 2000, noNaN: true });
    fc.assert(
      fc.property(number, number, length, length, angle, point, (cx, cy, width, height, turn, [u, v]) => {
        const [xx, xy, x0, yx, yy, y0] = mapOfCrop({ cx, cy, width, height, angle: turn }, SIZE);
        const found = [(xx * u + xy * v + x0) * SIZE[0], (yx * u + yy * v + y0) * SIZE[1]] as const;
        const crop = { centre: [cx, cy], sides: [width, height], angle: turn } as const;
        const expected = spec.toPhoto(crop, [u, v]);
        expect(Math.abs(found[0] - expected[0])).toBeLessThan(1e-8);
        expect(Math.abs(found[1] - expected[1])).toBeLessThan(1e-8);
        const back = spec.toCrop(crop, found);
        expect(Math.abs(back[0] - u)).toBeLessThan(1e-8);
        expect(Math.abs(back[1] - v)).toBeLessThan(1e-8);
      }),
    );
  });

  const detection = detectionOf({ corner: [0.1, 0.2], sides: [0.2, 0.1], points: [] });
  test.each([
    [
      { ...detection, x_max: 0.1 },
      IMAGE,
      undefined,
      /a box \[0\.1,0\.2,0\.1,.*expected a detection with an area/,
    ],
    [{ ...detection, y_min: NaN }, IMAGE, undefined, /expected a detection with an area/],
    [
      detection,
      { width: 0, height: 4 },
      undefined,
      /width 0, height 4, expected the size of the image in pixels/,
    ],
    [detection, IMAGE, -1, /scale: got -1, expected a number above 0/],
  ])("%# is refused", (d, image, scale, message) => {
    expect(() => cropOf(decoderOf("rtmpose"), d, image, scale)).toThrow(message);
    expect(() => cropOf(decoderOf("rtmpose"), d, image, scale)).toThrow(RangeError);
  });

  test("what is no decoder, and what is no detection, is refused with what was given", () => {
    const call = cropOf as (...given: unknown[]) => unknown;
    for (const none of [undefined, null, detection])
      expect(() => call(none, detection, IMAGE)).toThrow(
        /^cropOf: got (undefined|null|an object), expected the decoder of the network of points$/,
      );
    for (const none of [undefined, null])
      expect(() => call(decoderOf("rtmpose"), none, IMAGE)).toThrow(
        `cropOf: got ${none}, expected a detection`,
      );
  });

  test("a decoder without an input size is refused", () => {
    expect(() => cropOf(createDecoderSync({ family: "rtmpose" }), detection, IMAGE)).toThrow(
      /without inputSize/,
    );
  });
});

describe("crops of the next frame", () => {
  /** Decodes rows of MediaPipe's landmarks in a frame, and returns the next crop and the points in pixels. */
  function track(family: "face-mesh" | "hand-landmarks" | "pose-landmarks", seed: number) {
    const [rows, values, size] = {
      "face-mesh": [468, 3, 192],
      "hand-landmarks": [21, 3, 224],
      "pose-landmarks": [39, 5, 256],
    }[family];
    const data = Float32Array.from(
      { length: rows * values },
      (_, i) => (0.5 + 0.4 * Math.sin(seed + i * 12.9898)) * size,
    );
    const decoder = createDecoderSync({ family, inputSize: [size, size], scores: "probabilities" });
    const one = (value: number) => ({ data: [value], dims: [1, 1] });
    const tensors = {
      points: { data, dims: [1, rows * values] },
      presence: one(0.9),
      ...(family === "hand-landmarks" && { side: one(0.75) }),
    };
    const crop = { cx: 300 + seed, cy: 200, width: 250, height: 250, angle: seed / 3 };
    const found = decoder.decode(tensors, { ...IMAGE, resize: "stretch", crop });
    const whole = { centre: [crop.cx, crop.cy], sides: [250, 250], angle: crop.angle } as const;
    const points = Array.from({ length: rows }, (_, k) =>
      spec.toPhoto(whole, [data[k * values] / size, data[k * values + 1] / size]),
    );
    return { next: nextCropOf(found, 0) as Crop, points, found };
  }

  test.each([1, 2.5, 7, -3, 11])("are those of the specification, seed %d", (seed) => {
    const face = track("face-mesh", seed);
    expectCrop(face.next, spec.nextFaceCrop(face.points), 1e-3);
    const hand = track("hand-landmarks", seed);
    expectCrop(hand.next, spec.nextHandCrop(hand.points), 1e-3);
    expect(hand.found.at(0)?.label).toBe("right");
    const body = track("pose-landmarks", seed);
    expectCrop(body.next, spec.bodyCrop(body.points[33], body.points[34]), 1e-3);
  });

  test("copies and clones carry them, and other rows have none", () => {
    const { next, found } = track("hand-landmarks", 2);
    const copy = found.copy();
    expect(nextCropOf(copy, 0)).toEqual(next);
    expect(structuredClone(copy).nextCrops).toEqual(copy.nextCrops);
    expect(nextCropOf(found, 1)).toBeNull();
    expect(
      nextCropOf(
        createDecoderSync({ family: "rtmpose", inputSize: [192, 256] }, { engine: "ts" }).decode(simcc()),
        0,
      ),
    ).toBeNull();
  });

  const simcc = () => ({
    simcc_x: { data: new Float32Array(17 * 384), dims: [1, 17, 384] },
    simcc_y: { data: new Float32Array(17 * 512), dims: [1, 17, 512] },
  });
});

describeShared("golden crops of detections", (data) => {
  const cases = {
    "mediapipe-face-mesh": "face-mesh",
    "recorded-face-mesh": "face-mesh",
    "mediapipe-hand": "hand-landmarks",
    "mediapipe-pose": "pose-landmarks",
    "recorded-pose": "pose-landmarks",
  } as const;
  test.each(Object.entries(cases))("%s", (name, family) => {
    const { roi_from: from, roi } = readFamily(`${data}/golden/families`, name);
    const [x_min, y_min, x_max, y_max] = from.box ?? [0, 0, 1, 1];
    const points = [from.point0, from.point1];
    // A hand is turned by points 0 and 2.
    const keypoints = (family === "hand-landmarks" ? [points[0], points[0], points[1]] : points).map(
      ([x, y]) => ({ x, y, confidence: 1 }),
    );
    const [width, height] = from.photo;
    const found = cropOf(
      decoderOf(family),
      { class_id: 0, label: "0", confidence: 1, x_min, y_min, x_max, y_max, keypoints },
      { width, height },
    );
    expectCrop(
      found,
      { centre: roi.centre as spec.Point, sides: [roi.side, roi.side], angle: roi.rotation },
      2e-3,
    );
  });

  test.each(["rtmpose-simcc", "heatmaps-hrnet"])("%s", (name) => {
    const { crop, input } = readFamily(`${data}/golden/families`, name);
    const [width, height] = crop.photo;
    const [x_min, y_min, x_max, y_max] = crop.box.map((v, i) => v / crop.photo[i % 2]);
    const pose = createDecoderSync({ family: "rtmpose", inputSize: [input.width, input.height] });
    const found = cropOf(
      pose,
      { class_id: 0, label: "0", confidence: 1, x_min, y_min, x_max, y_max },
      { width, height },
    );
    expectCrop(found, { centre: crop.centre as spec.Point, sides: crop.scale as spec.Point, angle: 0 }, 2e-3);
  });
});
