/**
 * Keypoints: raw values of a cell become x and y in pixels of the network's input, in plain doubles.
 *
 * A cell is its column (or row), of `stride` pixels. Each function computes one axis.
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

/** Centre of a box of YOLOv5 and v7, and its width (or height): ultralytics/yolov5, models/yolo.py, Detect. */
export const centreOfV5 = (raw: number, cell: number, stride: number): number =>
  (2 * sigmoid(raw) - 0.5 + cell) * stride;
export const sizeOfV5 = (raw: number, anchor: number): number => (2 * sigmoid(raw)) ** 2 * anchor;
