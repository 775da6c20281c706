/** `toPixels` converts a detection to pixels of its image. */
import { isInPixels } from "../core/unit.ts";
import { type Detection, type DetectionFields, type Keypoint, type Point, Row } from "./detections.ts";

/** Returns the distance of two points. Unlike Math.hypot, rounds in the same way on all runtimes. */
const distanceOf = (a: Point, b: Point): number =>
  Math.sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));

/** Returns the centre and sides of an oriented box. The width is the side along the angle, either a to b or a to d. */
function sidesOf([a, b, c, d]: readonly Point[], angle = NaN): Partial<Detection> {
  const along = (p: Point): number => Math.abs((p.x - a.x) * Math.cos(angle) + (p.y - a.y) * Math.sin(angle));
  const [first, last] = [distanceOf(a, b), distanceOf(a, d)];
  // Find the side along the angle: compare the cosines of both sides.
  const isFirst = along(b) * last > along(d) * first;
  return {
    cx: (a.x + c.x) / 2,
    cy: (a.y + c.y) / 2,
    width: isFirst ? first : last,
    height: isFirst ? last : first,
  };
}

/** Returns a value as text for an error. For an object, such as an image, the text lists its first keys. */
const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? `{ ${Object.keys(value).slice(0, 8).join(", ")} }`
    : String(value);

/**
 * Converts a detection to pixels of an image of the given size: x times the width, y times the height. Does not round
 * or clamp. For an oriented box, `width` and `height` are the lengths of its own sides. `x_min` to `y_max` are the
 * upright box around the oriented box.
 * @throws RangeError if the size is not positive or `d` is in pixels already, TypeError if `d` is not a detection
 * @example
 * import { toPixels } from "boxwright";
 *
 * const d = { class_id: 0, label: "cat", confidence: 0.9, x_min: 0.25, y_min: 0.5, x_max: 0.75, y_max: 1 };
 * const { x, y, width, height } = toPixels(d, 640, 480);
 * console.log(x, y, width, height); // 160 240 320 240
 */
export function toPixels(d: DetectionFields, width: number, height: number): Detection {
  for (const edge of ["x_min", "y_min", "x_max", "y_max"] as const)
    if (!Number.isFinite((d as Partial<DetectionFields> | undefined)?.[edge]))
      throw new TypeError(
        `got something without a number as ${edge}, expected a detection; of several, each by itself`,
      );
  if (!([width, height].every(Number.isFinite) && width > 0 && height > 0))
    throw new RangeError(
      `got ${textOf(width)} x ${textOf(height)}, expected width and height of the image in pixels, as two numbers`,
    );
  if (isInPixels(d.x_min, d.y_min, d.x_max, d.y_max))
    throw new RangeError(
      `got a box from (${d.x_min}, ${d.y_min}) to (${d.x_max}, ${d.y_max}), expected coordinates 0..1: is it in pixels already?`,
    );
  const scaled = (key: "keypoints" | "corners"): Partial<DetectionFields> | undefined =>
    d[key] && {
      [key]: d[key].map((p: Keypoint | Point) => ({
        ...p,
        x: p.x * width,
        y: p.y * height,
        ...("z" in p && p.z !== undefined && { z: p.z * width }),
      })),
    };
  const pixels: DetectionFields = {
    ...d,
    x_min: d.x_min * width,
    y_min: d.y_min * height,
    x_max: d.x_max * width,
    y_max: d.y_max * height,
    ...scaled("keypoints"),
    ...scaled("corners"),
  };
  const { corners } = pixels;
  // Keep fields that the caller added to the detection.
  return Object.setPrototypeOf(
    corners?.length === 4 ? { ...pixels, ...sidesOf(corners, d.angle) } : pixels,
    Row.prototype,
  ) as Detection;
}
