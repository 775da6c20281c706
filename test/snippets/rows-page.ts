/** Blocks for pages. They run in Chromium, so what they are given and what is read back is text. */

export interface PageRow {
  readonly page: string;
  /** Words that tell the block from the others of its page. */
  readonly has: string;
  /** An expression of the page: the variables that the block finds. */
  readonly given?: string;
  /** Names of these variables. */
  readonly names?: readonly string[];
  /** An expression over what the block declares, `made`, and over `given`. */
  readonly answer: string;
  readonly expected: unknown;
}

/** Red, green, blue and alpha of a pixel of the canvas. A pixel that nobody has drawn on has alpha 0. */
const pixel = (canvas: string, x: number, y: number): string =>
  `[...${canvas}.getContext("2d").getImageData(${x}, ${y}, 1, 1).data]`;

export const PAGE_ROWS: readonly PageRow[] = [
  {
    page: "docs/detect.md",
    has: "onnxruntime-web/wasm",
    // The network finds a dog at 0.2, 0.4, 0.6, 0.8 of a picture of 32 x 24 pixels.
    given: "await addPhoto('/street.png')",
    answer: `({ size: [made.canvas.width, made.canvas.height], photo: ${pixel("made.canvas", 31, 23)},
      hasBox: ${pixel("made.canvas", 6, 15)}[0] > 0 })`,
    expected: { size: [32, 24], photo: [0, 0, 0, 255], hasBox: true },
  },
  {
    page: "docs/api.md",
    has: "context.drawImage(video, 0, 0)",
    given: "await redVideo()",
    names: ["video", "canvas", "detections"],
    answer: `({ video: ${pixel("given.canvas", 60, 60)}, hasBox: ${pixel("given.canvas", 16, 20)}[2] > 0 })`,
    expected: { video: [255, 0, 0, 255], hasBox: true },
  },
  {
    page: "docs/deployment.md",
    has: "provideKernel(",
    given: "({ url: '/simd.wasm' })",
    names: ["url"],
    answer: "(await made.createDecoder({ family: 'yolov8', classes: 1, inputSize: [64, 64] })).engine",
    expected: "simd",
  },
  {
    page: "docs/model-files.md",
    has: 'await fetch("yolo11n.onnx")',
    answer: "made.decoder.config.labels",
    expected: ["cat", "dog"],
  },
];
