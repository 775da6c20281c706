/** The workloads of a picture, and their rows: a letterbox, or a whole frame without its network. */

export interface PictureSpec {
  readonly name: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** Width and height of the network's input. */
  readonly side: number;
  /** Digest of OpenCV's tensor, for machines without OpenCV. `null`: the rows decode too, and boxes are compared. */
  readonly expected: string | null;
}

const specOf = (name: string, width: number, height: number, expected: string): PictureSpec => ({
  name,
  title: `Letterbox, RGBA ${width}x${height} to f32 [1,3,640,640]`,
  width,
  height,
  side: 640,
  expected,
});

/** The first picture is halved, for which OpenCV has special code. The others are resized bilinearly. */
export const PICTURES: readonly PictureSpec[] = [
  specOf("letterbox", 1280, 720, "564abed9b2f51de8"),
  specOf("letterbox-1080p", 1920, 1080, "b3191e56957daca6"),
  specOf("letterbox-1000", 1000, 600, "4f5c2abcc23d0f44"),
  {
    name: "frame",
    title: "Whole frame without the network: RGBA 1280x720, and YOLOv8 [1,84,8400] at 0.25 to boxes",
    width: 1280,
    height: 720,
    side: 640,
    expected: null,
  },
];

/**
 * Engines of a row. `js` is the usual loop, `js-nearest` the shorter one of a popular README. The last four run in
 * Chromium: ours on bytes, ours on the pixels of a canvas, the canvas itself, and @ultralytics/yolo.
 */
export const PICTURE_ENGINES = [
  "simd",
  "scalar",
  "ts",
  "opencv",
  "sharp",
  "js",
  "js-nearest",
  "chromium",
  "chromium-canvas",
  "canvas",
  "ultralytics",
] as const;
export type PictureEngine = (typeof PICTURE_ENGINES)[number];

/** Rows that run in Chromium. */
export const IN_BROWSER: readonly PictureEngine[] = ["chromium", "chromium-canvas", "canvas", "ultralytics"];

const OURS: readonly PictureEngine[] = ["simd", "scalar", "ts", "chromium", "chromium-canvas"];

/** Rows that must have the right answer. The others round differently. */
export const isExact = (engine: PictureEngine): boolean => engine === "opencv" || OURS.includes(engine);

/** True if the engine has a row for the workload. sharp and the shorter loop only prepare. */
export const hasRow = ({ expected }: PictureSpec, engine: PictureEngine): boolean =>
  expected !== null || !(engine === "sharp" || engine === "js-nearest");

/** Makes the bytes of a picture, the same as in opencv.py. */
export function pixelsOf({ width, height }: Pick<PictureSpec, "width" | "height">): Uint8Array {
  const pixels = new Uint8Array(width * height * 4).map((_, i) => Math.imul(i, 2654435761) >>> 24);
  return pixels;
}

/** A detection in pixels of the picture: class id, score, x_min, y_min, x_max, y_max. */
export type PictureBox = readonly number[];

/** True if the boxes are equal, in order of score: scores to two parts in a million, corners to a tenth of a pixel. */
export function areSameBoxes(found: readonly PictureBox[], expected: readonly PictureBox[]): boolean {
  if (found.length !== expected.length) return false;
  const sorted = (boxes: readonly PictureBox[]): PictureBox[] => [...boxes].sort((a, b) => b[1] - a[1]);
  const theirs = sorted(expected);
  return sorted(found).every((box, i) => {
    const [classId, score, ...corners] = theirs[i];
    const isNear = corners.every((corner, side) => Math.abs(corner - box[2 + side]) < 0.1);
    return box[0] === classId && Math.abs(box[1] - score) <= 2e-6 * score && isNear;
  });
}
