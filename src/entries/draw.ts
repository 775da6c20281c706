/** `boxwright/draw`: detections on a canvas, or on their photo as SVG. */
export { type CanvasContext, type CanvasOptions, drawCanvas } from "../picture/canvas.ts";
export type { Edges } from "../core/keypoints.ts";
export { DrawError, type Drawn, type DrawnPoint } from "../picture/drawn.ts";
export { type DrawOptions, drawSvg } from "../picture/svg.ts";
export type { Area } from "../picture/tags.ts";
