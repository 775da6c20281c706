/**
 * Crops of one object in plain doubles: from a box or points to a crop, and from the crop back to the photo. Lengths
 * are in pixels of the photo, angles in radians, clockwise on the screen.
 */

export type Point = readonly [x: number, y: number];
export type Corners = readonly [left: number, top: number, right: number, bottom: number];

/** Centre, sides along the crop's own axes, and angle. */
export interface CropSpec {
  readonly centre: Point;
  readonly sides: Point;
  readonly angle: number;
}

/** Returns a person's crop. Source: mmpose, bbox_xyxy2cs (padding 1.25) and TopdownAffine._fix_aspect_ratio. */
export function personCrop([left, top, right, bottom]: Corners, [width, height]: Point): CropSpec {
  const across = (right - left) * 1.25;
  const down = (bottom - top) * 1.25;
  const ratio = width / height;
  return {
    centre: [(left + right) / 2, (top + bottom) / 2],
    sides: across > down * ratio ? [across, across / ratio] : [down * ratio, down],
    angle: 0,
  };
}

/**
 * Returns the angle of a crop in which the line from `a` to `b` has the target angle. Two equal points have no
 * direction: such a crop stays upright here, but MediaPipe rotates it by the target angle. Source: MediaPipe,
 * DetectionsToRectsCalculator.
 */
export function turnOf(a: Point, b: Point, targetDegrees: number): number {
  if (a[0] === b[0] && a[1] === b[1]) return 0;
  const angle = (targetDegrees * Math.PI) / 180 - Math.atan2(-(b[1] - a[1]), b[0] - a[0]);
  return angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI));
}

/**
 * Returns a square crop whose side is the longer side times `factor`. The crop moves down along its own axis by
 * `shiftY` times its height before the factor. Source: MediaPipe, RectTransformationCalculator with square_long.
 */
export function squareOf({ centre, sides, angle }: CropSpec, factor: number, shiftY: number): CropSpec {
  const side = Math.max(...sides) * factor;
  const moved = sides[1] * shiftY;
  return {
    centre: [centre[0] - moved * Math.sin(angle), centre[1] + moved * Math.cos(angle)],
    sides: [side, side],
    angle,
  };
}

const boxOf = ([left, top, right, bottom]: Corners, angle: number): CropSpec => ({
  centre: [(left + right) / 2, (top + bottom) / 2],
  sides: [right - left, bottom - top],
  angle,
});

/** Returns a face's crop with level eyes. Source: MediaPipe, face_detection_front_detection_to_roi.pbtxt. */
export const faceCrop = (box: Corners, eyes: readonly [Point, Point]): CropSpec =>
  squareOf(boxOf(box, turnOf(...eyes, 0)), 1.5, 0);

/**
 * Returns a hand's crop, in which the line from point 0 to point 2 of the palm is upright. Source: MediaPipe,
 * palm_detection_detection_to_roi.pbtxt.
 */
export const handCrop = (box: Corners, wrist: Point, middle: Point): CropSpec =>
  squareOf(boxOf(box, turnOf(wrist, middle, 90)), 2.6, -0.5);

/**
 * Returns a body's crop: the square around a circle, times 1.25. Source: MediaPipe, AlignmentPointsRectsCalculator and
 * pose_detection_to_roi.pbtxt.
 */
export function bodyCrop(middle: Point, rim: Point): CropSpec {
  const side = 2 * Math.sqrt((rim[0] - middle[0]) ** 2 + (rim[1] - middle[1]) ** 2) * 1.25;
  return { centre: middle, sides: [side, side], angle: turnOf(middle, rim, 90) };
}

const enclosing = (points: readonly Point[]): Corners => [
  Math.min(...points.map(([x]) => x)),
  Math.min(...points.map(([, y]) => y)),
  Math.max(...points.map(([x]) => x)),
  Math.max(...points.map(([, y]) => y)),
];

/** Returns the face's crop in the next frame. Source: MediaPipe, face_landmark_landmarks_to_roi.pbtxt. */
export const nextFaceCrop = (points: readonly Point[]): CropSpec =>
  squareOf(boxOf(enclosing(points), turnOf(points[33], points[263], 0)), 1.5, 0);

/**
 * Returns the hand's crop in the next frame. Source: MediaPipe, hand_landmark_landmarks_to_roi.pbtxt and
 * HandLandmarksToRectCalculator.
 */
export function nextHandCrop(points: readonly Point[]): CropSpec {
  const some = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18].map((k) => points[k]);
  const target = [0, 1].map((axis) => ((points[5][axis] + points[13][axis]) / 2 + points[9][axis]) / 2);
  const angle = turnOf(points[0], target as unknown as Point, 90);
  const [left, top, right, bottom] = enclosing(some);
  const middle = [(left + right) / 2, (top + bottom) / 2];
  const turned = some.map(([x, y]): Point => turnedBy([x - middle[0], y - middle[1]], -angle));
  const { centre, sides } = boxOf(enclosing(turned), angle);
  const back = turnedBy(centre, angle);
  return squareOf({ centre: [back[0] + middle[0], back[1] + middle[1]], sides, angle }, 2, -0.1);
}

const turnedBy = ([x, y]: Point, angle: number): Point => [
  x * Math.cos(angle) - y * Math.sin(angle),
  x * Math.sin(angle) + y * Math.cos(angle),
];

/**
 * Converts a point from 0..1 of the crop to pixels of the photo. Sources: mmpose, TopdownPoseEstimator; MediaPipe,
 * LandmarkProjection.
 */
export function toPhoto({ centre, sides, angle }: CropSpec, [u, v]: Point): Point {
  const [x, y] = turnedBy([(u - 0.5) * sides[0], (v - 0.5) * sides[1]], angle);
  return [x + centre[0], y + centre[1]];
}

/** Converts a point from pixels of the photo to 0..1 of the crop: the exact inverse of `toPhoto`. */
export function toCrop({ centre, sides, angle }: CropSpec, [x, y]: Point): Point {
  const [u, v] = turnedBy([x - centre[0], y - centre[1]], -angle);
  return [u / sides[0] + 0.5, v / sides[1] + 0.5];
}
