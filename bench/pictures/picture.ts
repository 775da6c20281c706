/** The workloads of preparing a picture, and their rows. */

export interface PictureSpec {
  readonly name: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** Width and height of the network's input. */
  readonly side: number;
  /** Digest of OpenCV's tensor, kept for machines without it. */
  readonly expected: string;
}

const specOf = (name: string, width: number, height: number, expected: string): PictureSpec => ({
  name,
  title: `Letterbox, RGBA ${width}x${height} to f32 [1,3,640,640]`,
  width,
  height,
  side: 640,
  expected,
});

/** The first is halved, for which OpenCV has code of its own. The others are bilinear. */
export const PICTURES: readonly PictureSpec[] = [
  specOf("letterbox", 1280, 720, "564abed9b2f51de8"),
  specOf("letterbox-1080p", 1920, 1080, "b3191e56957daca6"),
  specOf("letterbox-1000", 1000, 600, "4f5c2abcc23d0f44"),
];

/** Engines of a row. `js` is the loop that people write, `js-nearest` the shorter one of a popular README. */
export const PICTURE_ENGINES = ["simd", "scalar", "ts", "opencv", "js", "js-nearest"] as const;
export type PictureEngine = (typeof PICTURE_ENGINES)[number];

/** Rows whose tensor is byte-equal to OpenCV's. The others round in their own way. */
export const isExact = (engine: PictureEngine): boolean => !engine.startsWith("js");

/** Makes the bytes of a picture, as opencv.py does. */
export const pixelsOf = ({ width, height }: PictureSpec): Uint8Array =>
  new Uint8Array(width * height * 4).map((_, i) => Math.imul(i, 2654435761) >>> 24);
