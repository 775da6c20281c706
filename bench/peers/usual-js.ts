/**
 * The JavaScript that people paste into their page: cell by cell, an object for each candidate, `sort`, and a
 * suppression that filters the list again for every kept box. Quantised outputs are converted to floats first.
 */
import { fromHalf, V3_ANCHORS, V3_MAPS, type BenchTensor } from "../tensors.ts";
import { IOU_THRESHOLD, MAX_DETECTIONS, type Workload } from "../workloads.ts";
import type { Prepared } from "./prepared.ts";

interface Box {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  score: number;
  classId: number;
  index: number;
}

function iou(a: Box, b: Box): number {
  const w = Math.max(0, Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1));
  const h = Math.max(0, Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1));
  const inter = w * h;
  return inter / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - inter);
}

function nonMaxSuppression(boxes: Box[]): Box[] {
  let rest = [...boxes].sort((a, b) => b.score - a.score);
  const kept: Box[] = [];
  while (rest.length > 0 && kept.length < MAX_DETECTIONS) {
    const [best] = rest;
    kept.push(best);
    rest = rest.slice(1).filter((box) => box.classId !== best.classId || iou(best, box) <= IOU_THRESHOLD);
  }
  return kept;
}

function toFloats({ data, type, scale = 1, zeroPoint = 0 }: BenchTensor): Float32Array {
  if (type === "float32") return data as Float32Array;
  const floats = new Float32Array(data.length);
  const step = Math.fround(scale);
  if (type === "float16") for (let i = 0; i < data.length; i++) floats[i] = fromHalf(data[i]);
  else for (let i = 0; i < data.length; i++) floats[i] = (data[i] - zeroPoint) * step;
  return floats;
}

const corners = (cx: number, cy: number, w: number, h: number) => ({
  x1: cx - w / 2,
  y1: cy - h / 2,
  x2: cx + w / 2,
  y2: cy + h / 2,
});

function decodeV8({ tensors, threshold, classes }: Workload): Box[] {
  const cells = 8400;
  const found: Box[] = [];
  const scores = toFloats(tensors.output0 ?? tensors.scores);
  const boxes = tensors.boxes === undefined ? scores : toFloats(tensors.boxes);
  const first = tensors.boxes === undefined ? 4 : 0;
  for (let i = 0; i < cells; i++) {
    let classId = 0;
    let score = 0;
    for (let c = 0; c < classes; c++) {
      const s = scores[(first + c) * cells + i];
      if (s > score) {
        score = s;
        classId = c;
      }
    }
    if (score <= threshold) continue;
    const box = corners(boxes[i], boxes[cells + i], boxes[2 * cells + i], boxes[3 * cells + i]);
    found.push({ ...box, score, classId, index: i });
  }
  return found;
}

function decodeV5({ tensors, threshold, classes }: Workload): Box[] {
  const { data } = tensors.output0;
  const found: Box[] = [];
  for (let i = 0; i < 25200; i++) {
    const objectness = data[i * 85 + 4];
    if (objectness <= threshold) continue;
    const row = data.slice(i * 85, (i + 1) * 85);
    let classId = 0;
    let score = 0;
    for (let c = 0; c < classes; c++) {
      const s = Math.fround(objectness * row[5 + c]);
      if (s > score) {
        score = s;
        classId = c;
      }
    }
    if (score <= threshold) continue;
    found.push({ ...corners(row[0], row[1], row[2], row[3]), score, classId, index: i });
  }
  return found;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Decodes one cell of a map of YOLOv3. */
function decodeCell(
  value: (channel: number) => number,
  { threshold, classes }: Workload,
  [col, row, stride, width, height]: readonly number[],
  index: number,
): Box | undefined {
  const objectness = sigmoid(value(4));
  if (objectness <= threshold) return undefined;
  let classId = 0;
  let score = 0;
  for (let c = 0; c < classes; c++) {
    const s = objectness * sigmoid(value(5 + c));
    if (s > score) {
      score = s;
      classId = c;
    }
  }
  if (score <= threshold) return undefined;
  const [cx, cy] = [(col + sigmoid(value(0))) * stride, (row + sigmoid(value(1))) * stride];
  const box = corners(cx, cy, Math.exp(value(2)) * width, Math.exp(value(3)) * height);
  return { ...box, score, classId, index };
}

function decodeV3(workload: Workload): Box[] {
  const found: Box[] = [];
  for (const { side, mask } of V3_MAPS) {
    const { data } = workload.tensors[`out${side}`];
    const stride = workload.inputSize / side;
    for (let anchor = 0; anchor < 3; anchor++) {
      const size = V3_ANCHORS.slice(2 * mask[anchor], 2 * mask[anchor] + 2);
      for (let row = 0; row < side; row++) {
        for (let col = 0; col < side; col++) {
          const value = (channel: number): number =>
            data[((anchor * 85 + channel) * side + row) * side + col];
          const box = decodeCell(value, workload, [col, row, stride, ...size], found.length);
          if (box !== undefined) found.push(box);
        }
      }
    }
  }
  return found;
}

/** Returns boxes without a network as objects. */
const toObjects = ({ tensors: { boxes, scores } }: Workload): Box[] =>
  Array.from(scores.data, (score, index) => {
    const [x1, y1, x2, y2] = boxes.data.subarray(4 * index, 4 * index + 4);
    return { x1, y1, x2, y2, score, classId: 0, index };
  });

export function prepare(workload: Workload): Prepared {
  const { kind, inputSize } = workload;
  // Suppression alone starts with objects, since its users have these already.
  const given = kind === "nms" ? toObjects(workload) : [];
  const decode = { nms: () => given, v8: decodeV8, v5: decodeV5, v3: decodeV3 }[kind];
  let kept: Box[] = [];
  const unit = (x: number): number => Math.min(1, Math.max(0, x / inputSize));
  return {
    run: () => (kept = nonMaxSuppression(decode(workload))).length,
    answer: () => ({
      count: kept.length,
      boxes: kept.flatMap((b) => [unit(b.x1), unit(b.y1), unit(b.x2), unit(b.y2)]),
      scores: kept.map((b) => b.score),
      classIds: kept.map((b) => b.classId),
      kept: kept.map((b) => b.index),
    }),
  };
}
