import { type Crop, type CropRule, cropOfObject, withinTurn } from "../../../core/crop.ts";
import { refuseValue } from "../../../core/errors.ts";
import { POSITIVE, checkValue } from "../../../core/options.ts";
import { PERSON_CROP, POINT_FACTS } from "../../../core/pose-families.ts";
import { show } from "../../../core/tensor.ts";
import {
  type QuarterTurns,
  rotationProblem,
  turnBoxes,
  turnPoints,
  turnedSize,
  turnsBack,
} from "../../../core/turn.ts";
import { isInPixels } from "../../../core/unit.ts";
import type { Config } from "../../../config/types.ts";
import type { DetectionFields, Detections } from "../../../decode/detections.ts";
import { familyOf } from "../../../heads/query.ts";
import { CROP_WIDTH } from "../rows.ts";

/**
 * Returns the crop of a detection for a network of points. Pass the crop to `prepare`. The frame that `prepare` returns
 * maps the points back to the image.
 *
 * For person networks, the box grows by a quarter, then to the proportions of the network's input. For MediaPipe's
 * networks, the crop is a square, rotated by two points of the detection. The crop is upright if the detection lacks
 * these points.
 *
 * For an image with a `rotation`, the crop contains that rotation: pass the image to `prepare` without a `rotation`.
 * @param decoder the decoder of the network of points
 * @param detection a record, 0..1 across the image
 * @param image size of the image in pixels, and its `rotation` if it is not upright
 * @param scale factor by which the box grows, in place of the family's usual factor
 * @throws RangeError for a box without area or in pixels, for an image without positive size, for a `scale` that is not
 * positive, or for a decoder without an input size
 * @example
 * import { createDecoderSync, cropOf } from "boxwright";
 *
 * const pose = createDecoderSync({ family: "rtmpose", inputSize: [192, 256] });
 * const person = { class_id: 0, label: "person", confidence: 0.9, x_min: 0.25, y_min: 0.25, x_max: 0.5, y_max: 0.75 };
 * console.log(cropOf(pose, person, { width: 640, height: 480 }));
 * // {"cx":240,"cy":240,"width":225,"height":300,"angle":0}
 */
export function cropOf(
  decoder: { readonly config: Config },
  detection: DetectionFields,
  image: { readonly width: number; readonly height: number; readonly rotation?: QuarterTurns },
  scale?: number,
): Crop {
  const { inputSize, outputs } =
    (decoder as Partial<typeof decoder> | null | undefined)?.config ??
    refuseValue("cropOf", show(decoder), "the decoder of the network of points");
  if (!inputSize)
    refuseValue("cropOf", "a decoder without inputSize", "the size of the crop that the network gets");
  checkImage(image);
  const { x_min, y_min, x_max, y_max, keypoints } =
    (detection as DetectionFields | null | undefined) ??
    refuseValue("cropOf", show(detection), "a detection");
  const box = [x_min, y_min, x_max, y_max];
  if (!(box.every(Number.isFinite) && x_max > x_min && y_max > y_min))
    refuseValue("cropOf", `a box ${show([x_min, y_min, x_max, y_max])}`, "a detection with an area");
  if (isInPixels(x_min, y_min, x_max, y_max))
    refuseValue("cropOf", `a box ${show([x_min, y_min, x_max, y_max])}`, "0..1 across the image, no pixels");
  if (scale !== undefined) checkValue("scale", scale, POSITIVE);
  const rule: CropRule = POINT_FACTS[familyOf(decoder.config, outputs ?? []).family]?.crop ?? PERSON_CROP;
  // Apply the rule to the upright picture.
  const { rotation = 0 } = image;
  const values = Float64Array.from(keypoints?.flatMap(({ x, y }) => [x, y]) ?? []);
  turnBoxes(box, 1, rotation);
  turnPoints(values, values.length, 2, rotation);
  const size = turnedSize([image.width, image.height], rotation);
  const inPixels = (value: number, i: number): number => value * size[i % 2];
  const arePointsFinite = values.length > 0 && values.every(Number.isFinite);
  const points = arePointsFinite ? { values: values.map(inPixels), step: 2, count: values.length / 2 } : null;
  const [left, top, right, bottom] = box.map(inPixels);
  const crop = cropOfObject(
    scale === undefined ? rule : { ...rule, scale },
    [left, top, right, bottom],
    points,
    inputSize,
  );
  return rotation === 0 ? crop : turnedBack(crop, size, rotation);
}

/** Converts a crop of the upright picture to a crop of the picture as the camera delivered it. */
function turnedBack(crop: Crop, size: readonly [number, number], rotation: QuarterTurns): Crop {
  const centre = [crop.cx / size[0], crop.cy / size[1]];
  turnPoints(centre, 2, 2, turnsBack(rotation));
  const [width, height] = turnedSize(size, rotation);
  const angle = withinTurn((crop.angle ?? 0) - (rotation * Math.PI) / 2);
  return { ...crop, cx: centre[0] * width, cy: centre[1] * height, angle };
}

function checkImage(
  image: { readonly width: number; readonly height: number; readonly rotation?: unknown } | null,
): void {
  const problem = rotationProblem(image?.rotation);
  if (problem) refuseValue("cropOf: image.rotation", ...problem);
  const { width, height } = image ?? { width: undefined, height: undefined };
  if (!([width, height] as unknown[]).every((n) => typeof n === "number" && n > 0 && n < Infinity))
    refuseValue("cropOf", `width ${show(width)}, height ${show(height)}`, "the size of the image in pixels");
}

/**
 * Returns the crop for the next frame from the points of row `row` in this frame. Returns null if the family has no
 * tracking rule, or if the row does not exist.
 * @param detections result of a decoder for MediaPipe's landmarks
 * @throws RangeError if `detections` is not the result of a decoder
 * @example
 * import { createDecoderSync, nextCropOf } from "boxwright";
 *
 * const decoder = createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
 * const boxes = { data: [0, 0, 0.5, 0.5], dims: [1, 1, 4] };
 * const found = decoder.decode({ boxes, scores: { data: [0.75], dims: [1, 1, 1] } });
 * console.log(nextCropOf(found, 0)); // null
 */
export function nextCropOf(detections: Detections, row: number): Crop | null {
  const { scores } = (detections as Detections | null) ?? {};
  if (!ArrayBuffer.isView(scores)) refuseValue("nextCropOf", show(detections), "what decode() returned");
  if (!Number.isInteger(row)) refuseValue("nextCropOf", `row ${show(row)}`, "the index of a detection");
  const { nextCrops, length } = detections;
  if (!nextCrops || !(row >= 0 && row < length)) return null;
  const [cx, cy, width, height, angle] = nextCrops.subarray(row * CROP_WIDTH, (row + 1) * CROP_WIDTH);
  return { cx, cy, width, height, angle };
}
