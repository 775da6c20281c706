/**
 * The right answer to a workload, in plain doubles and without a thought of speed.
 *
 * - The score is that of the best class (YOLOv8), or objectness times that (YOLOv5, YOLOv3).
 * - The first class wins a tie.
 * - A candidate's score and objectness are above the threshold.
 * - Candidates are taken by falling score, equal ones by their index in the tensor.
 * - A candidate is dropped if a kept one of its class overlaps it by an IoU above 0.45. At most 300 are kept.
 * - Corners are in 0..1 of the network's input and are clamped to it at the end.
 */
import type { Answer } from "./answer.ts";
import { fromHalf, V3_ANCHORS, V3_MAPS, type BenchTensor } from "./tensors.ts";
import { IOU_THRESHOLD, MAX_DETECTIONS, type Workload } from "./workloads.ts";

interface Candidate {
  /** Corners in pixels. */
  readonly box: readonly number[];
  readonly score: number;
  readonly classId: number;
  /** Index in the tensor. */
  readonly source: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Returns a reader of the tensor's values as the network meant them. */
function valuesOf({ data, type, scale = 1, zeroPoint = 0 }: BenchTensor): (at: number) => number {
  if (type === "float16") return (at) => fromHalf(data[at]);
  if (type === "int8") return (at) => Math.fround((data[at] - zeroPoint) * Math.fround(scale));
  return (at) => data[at];
}

function bestClass(classes: number, scoreAt: (classId: number) => number): [classId: number, score: number] {
  let best = 0;
  for (let c = 1; c < classes; c++) if (scoreAt(c) > scoreAt(best)) best = c;
  return [best, scoreAt(best)];
}

const cornersOf = (cx: number, cy: number, w: number, h: number): number[] => [
  cx - w / 2,
  cy - h / 2,
  cx + w / 2,
  cy + h / 2,
];

function looseBoxes({ tensors }: Workload): Candidate[] {
  const boxes = tensors.boxes.data;
  return Array.from(tensors.scores.data, (score, source) => ({
    box: Array.from(boxes.subarray(4 * source, 4 * source + 4)),
    score,
    classId: 0,
    source,
  }));
}

function planes({ tensors, threshold, classes }: Workload, image: number): Candidate[] {
  const { output0, boxes = output0, scores = output0 } = tensors;
  const cells = boxes.dims[2];
  const boxAt = valuesOf(boxes);
  const scoreAt = valuesOf(scores);
  const firstBox = image * boxes.dims[1] * cells;
  const firstScore = (image * scores.dims[1] + (boxes === scores ? 4 : 0)) * cells;
  const found: Candidate[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const [classId, score] = bestClass(classes, (c) => scoreAt(firstScore + c * cells + cell));
    if (!(score > threshold)) continue;
    const [cx, cy, w, h] = [0, 1, 2, 3].map((i) => boxAt(firstBox + i * cells + cell));
    found.push({ box: cornersOf(cx, cy, w, h), score, classId, source: cell });
  }
  return found;
}

function rows({ tensors, threshold, classes }: Workload): Candidate[] {
  const { data, dims } = tensors.output0;
  const found: Candidate[] = [];
  for (let row = 0; row < dims[1]; row++) {
    const [cx, cy, w, h, objectness, ...scores] = data.subarray(row * dims[2], (row + 1) * dims[2]);
    if (!(objectness > threshold)) continue;
    const [classId, top] = bestClass(classes, (c) => scores[c]);
    const score = Math.fround(objectness * top);
    if (score > threshold) found.push({ box: cornersOf(cx, cy, w, h), score, classId, source: row });
  }
  return found;
}

function maps({ tensors, threshold, classes, inputSize }: Workload): Candidate[] {
  const found: Candidate[] = [];
  let source = 0;
  for (const { side, mask } of V3_MAPS) {
    const { data } = tensors[`out${side}`];
    const cells = side * side;
    const stride = inputSize / side;
    for (let anchor = 0; anchor < 3; anchor++) {
      for (let cell = 0; cell < cells; cell++, source++) {
        const at = (channel: number): number => data[(anchor * (5 + classes) + channel) * cells + cell];
        const objectness = sigmoid(at(4));
        if (!(objectness > threshold)) continue;
        const [classId, top] = bestClass(classes, (c) => at(5 + c));
        const score = objectness * sigmoid(top);
        if (!(score > threshold)) continue;
        const cx = ((cell % side) + sigmoid(at(0))) * stride;
        const cy = (Math.floor(cell / side) + sigmoid(at(1))) * stride;
        const w = Math.exp(at(2)) * V3_ANCHORS[2 * mask[anchor]];
        const h = Math.exp(at(3)) * V3_ANCHORS[2 * mask[anchor] + 1];
        found.push({ box: cornersOf(cx, cy, w, h), score, classId, source });
      }
    }
  }
  return found;
}

const CANDIDATES = { nms: looseBoxes, v8: planes, v5: rows, v3: maps };

function iou(a: readonly number[], b: readonly number[]): number {
  const w = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]));
  const h = Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const area = (box: readonly number[]): number => (box[2] - box[0]) * (box[3] - box[1]);
  return (w * h) / (area(a) + area(b) - w * h);
}

function suppress(candidates: Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates.sort((a, b) => b.score - a.score || a.source - b.source)) {
    if (kept.length === MAX_DETECTIONS) break;
    const overlaps = ({ classId, box }: Candidate): boolean =>
      classId === candidate.classId && iou(box, candidate.box) > IOU_THRESHOLD;
    if (!kept.some(overlaps)) kept.push(candidate);
  }
  return kept;
}

/** Returns the right answer to a workload. */
export function define(workload: Workload): Answer {
  const kept = Array.from({ length: workload.images }, (_, image) =>
    suppress(CANDIDATES[workload.kind](workload, image)),
  ).flat();
  const unit = (x: number): number => Math.min(1, Math.max(0, x / workload.inputSize));
  return {
    count: kept.length,
    boxes: kept.flatMap(({ box }) => box.map(unit)),
    scores: kept.map(({ score }) => score),
    classIds: kept.map(({ classId }) => classId),
    ...(workload.kind === "nms" ? { kept: kept.map(({ source }) => source) } : {}),
  };
}
