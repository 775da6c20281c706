/**
 * Keypoints: converts raw values of a cell to x and y in pixels of the network's input, in plain doubles.
 *
 * `cell` is the column (or row) of a cell. A cell has `stride` pixels. Each function computes one axis.
 */

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** YOLOv8, 11, 12: Ultralytics' head.py, Pose.kpts_decode. */
export const pointOfV8 = (raw: number, cell: number, stride: number): number => (2 * raw + cell) * stride;

/** YOLO26: Ultralytics' head.py, Pose26.kpts_decode. */
export const pointOfV26 = (raw: number, cell: number, stride: number): number => (raw + cell + 0.5) * stride;

/** YOLOv5-pose and YOLOv7-pose: edgeai-yolov5 and yolov7 (branch pose), models/yolo.py. Raw values get no sigmoid. */
export const pointOfV7 = (raw: number, cell: number, stride: number): number =>
  (2 * raw - 0.5 + cell) * stride;

/** YOLOv5-face: deepcam-cn/yolov5-face, models/yolo.py. `anchor` is the width (or height) of the anchor in pixels. */
export const pointOfV5Face = (raw: number, cell: number, stride: number, anchor: number): number =>
  raw * anchor + cell * stride;

/** A point of RF-DETR: seven of its eight channels. x and y are 0..1 of the network's input. */
export interface QueryPoint {
  readonly x: number;
  readonly y: number;
  readonly findable: number;
  /** Cholesky factor of the precision matrix: the logarithms of its diagonal, and the value below the diagonal. */
  readonly l11: number;
  readonly l21: number;
  readonly l22: number;
}

/** Returns the confidence of a point of RF-DETR. Source: rf-detr, models/postprocess.py. */
export const confidenceOfQueryPoint = ({ findable }: QueryPoint): number => sigmoid(findable);

/** Returns the trace of a point's covariance, which is the inverse of L times L's transpose. */
const traceOf = ({ l11, l21, l22 }: QueryPoint): number =>
  Math.exp(-2 * l11) + Math.exp(-2 * l22) + l21 ** 2 * Math.exp(-2 * l11 - 2 * l22);

/** Returns the score that RF-DETR's `predict()` gives. It is higher if points are confident and certain. */
export function fusedScore(score: number, points: readonly QueryPoint[]): number {
  const weights = points.map(confidenceOfQueryPoint);
  const sum = weights.reduce((a, b) => a + b);
  const trace = points.reduce((a, point, k) => a + (weights[k] / sum) * traceOf(point), 0);
  return sigmoid(Math.log(score) - 0.2 * Math.log(trace));
}

/** Centre of a box of YOLOv5 and v7, and its width (or height): ultralytics/yolov5, models/yolo.py, Detect. */
export const centreOfV5 = (raw: number, cell: number, stride: number): number =>
  (2 * sigmoid(raw) - 0.5 + cell) * stride;
export const sizeOfV5 = (raw: number, anchor: number): number => (2 * sigmoid(raw)) ** 2 * anchor;
