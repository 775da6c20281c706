/** Networks of crops against the authors' formulas in float64, on seeded and on recorded tensors. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Crop } from "../../../../src/core/crop.ts";
import type { TypedOptions } from "../../../../src/config/types.ts";
import { createDecoderSync } from "../../../../src/whole/decoder.ts";
import type { Detection, Detections } from "../../../../src/decode/detections.ts";
import { engines } from "../../../support/engines.ts";
import { type FamilyCase, type Points, readFamily } from "../../../support/families.ts";
import { describeShared } from "../../../support/shared-data.ts";

/** Holds points, 0..1 of an image, against pixels of it. Extra values of a row are its confidence. */
function expectPoints(
  found: Detection | undefined,
  expected: Points,
  [width, height]: readonly [number, number],
  tolerance = 1e-4,
): void {
  expect(found?.keypoints).toHaveLength(expected.length);
  found?.keypoints?.forEach((p, k) => {
    const [x, y] = expected[k];
    expect(Math.abs(p.x - x / width), `x of point ${k}`).toBeLessThan(tolerance);
    expect(Math.abs(p.y - y / height), `y of point ${k}`).toBeLessThan(tolerance);
  });
}

const sizeOf = ({ input }: FamilyCase): readonly [number, number] => [input.width, input.height];

const cropOfCase = ({ crop }: FamilyCase): Crop => ({
  cx: crop.centre[0],
  cy: crop.centre[1],
  width: crop.scale[0],
  height: crop.scale[1],
});

const roiOfCase = ({ roi }: FamilyCase): Crop => ({
  cx: roi.centre[0],
  cy: roi.centre[1],
  width: roi.side,
  height: roi.side,
  angle: roi.rotation,
});

/** Decodes with every engine, holds their columns equal byte by byte, and returns the last result. */
function decodeAll(
  { tensors }: { tensors: Parameters<ReturnType<typeof createDecoderSync>["decode"]>[0] },
  options: TypedOptions,
  frame?: { photo: readonly [number, number]; crop: Crop },
): Detections {
  const results = engines.map((engine) => {
    const decoder = createDecoderSync(options, { engine });
    return decoder
      .decode(
        tensors,
        frame && { width: frame.photo[0], height: frame.photo[1], resize: "stretch", crop: frame.crop },
      )
      .copy();
  });
  for (const result of results) expect({ ...result }).toEqual({ ...results[0] });
  return results[0];
}

describeShared("golden crops", (data) => {
  const folder = join(data, "golden", "families");

  test("RTMPose", () => {
    const given = readFamily(folder, "rtmpose-simcc");
    const options = { family: "rtmpose", inputSize: sizeOf(given) } as const;
    const [person] = decodeAll(given, options);
    expectPoints(person, given.points, sizeOf(given));
    person.keypoints?.forEach((p, k) => expect(p.confidence).toBeCloseTo(given.points[k][2], 6));
    const { photo } = given.crop;
    const [inPhoto] = decodeAll(given, options, { photo, crop: cropOfCase(given) });
    expectPoints(inPhoto, given.points_in_photo, photo);
  });

  const refinements = { argmax: "none", quarter: "quarter", dark_udp: "dark-udp" } as const;
  test.each(Object.entries(refinements))("heat maps, %s", (name, keypointRefinement) => {
    const given = readFamily(folder, "heatmaps-hrnet");
    for (const family of ["hrnet", "vitpose"] as const) {
      const options = { family, inputSize: sizeOf(given), keypointRefinement };
      const [person] = decodeAll(given, options);
      expectPoints(person, given.points[name], sizeOf(given));
      person.keypoints?.forEach((p, k) => expect(p.confidence).toBeCloseTo(given.points[name][k][2], 6));
      const { photo } = given.crop;
      const [inPhoto] = decodeAll(given, options, { photo, crop: cropOfCase(given) });
      expectPoints(inPhoto, given.points_in_photo[name], photo);
    }
  });

  test("the refinement of each family is that of its authors", () => {
    const given = readFamily(folder, "heatmaps-hrnet");
    const inputSize = sizeOf(given);
    expectPoints(decodeAll(given, { family: "hrnet", inputSize }).at(0), given.points["quarter"], inputSize);
    expectPoints(
      decodeAll(given, { family: "vitpose", inputSize }).at(0),
      given.points["dark_udp"],
      inputSize,
    );
  });

  const landmarks = {
    "mediapipe-face-mesh": "face-mesh",
    "mediapipe-hand": "hand-landmarks",
    "mediapipe-pose": "pose-landmarks",
    "recorded-face-mesh": "face-mesh",
    "recorded-pose": "pose-landmarks",
  } as const;
  describe.each(Object.entries(landmarks))("%s", (name, family) => {
    const given = readFamily(folder, name);
    const inputSize = sizeOf(given);
    const count = family === "pose-landmarks" ? 33 : given.points.length;
    const unit = (points: Points): Points => points.slice(0, count);

    test.each(given.refined ? (["none", "heatmap"] as const) : (["none"] as const))(
      "refinement %s",
      (keypointRefinement) => {
        const options = { family, inputSize, keypointRefinement };
        const isRefined = keypointRefinement === "heatmap";
        const found = decodeAll(given, options);
        expectPoints(found.at(0), unit(isRefined ? given.refined : given.points), [1, 1]);
        expect(found.at(0)?.confidence).toBeCloseTo(given.presence, 5);
        found.at(0)?.keypoints?.forEach((p, k) => {
          const [, , z, visibility = 1, presence] = given.points[k];
          expect(p.z).toBeCloseTo(z, 5);
          expect(p.confidence).toBeCloseTo(visibility, 5);
          if (presence !== undefined) expect(p.presence).toBeCloseTo(presence, 5);
        });
        const { photo } = given.roi_from;
        const inPhoto = decodeAll(given, options, { photo, crop: roiOfCase(given) });
        const expected = isRefined ? given.refined_in_photo : given.points_in_photo;
        expectPoints(inPhoto.at(0), unit(expected), photo);
      },
    );
  });
});
