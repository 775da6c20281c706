/**
 * What people paste into their page: cell by cell over the tensor as it comes, an object per candidate,
 * `sort`, and a suppression that filters the list again for every box it keeps. Quantised outputs are turned
 * into floats first.
 */
import type { Found } from "../definition.ts";
import {
  CLASSES,
  fromHalf,
  INPUT,
  INPUT_V3,
  IOU_THRESHOLD,
  MAX_DETECTIONS,
  V3_ANCHORS,
  V3_MAPS,
  type BenchTensor,
  type Workload,
} from "../workloads.ts";
import type { Prepared } from "./common.ts";

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

const centre = (
  cx: number,
  cy: number,
  w: number,
  h: number,
): { x1: number; y1: number; x2: number; y2: number } => ({
  x1: cx - w / 2,
  y1: cy - h / 2,
  x2: cx + w / 2,
  y2: cy + h / 2,
});

function decodeV8({ tensors, threshold }: Workload): Box[] {
  const cells = 8400;
  const found: Box[] = [];
  const all = tensors.output0 === undefined ? toFloats(tensors.scores) : toFloats(tensors.output0);
  const boxes = tensors.boxes === undefined ? all : toFloats(tensors.boxes);
  const first = tensors.boxes === undefined ? 4 : 0;
  for (let i = 0; i < cells; i++) {
    let classId = 0;
    let score = 0;
    for (let c = 0; c < CLASSES; c++) {
      const s = all[(first + c) * cells + i];
      if (s > score) {
        score = s;
        classId = c;
      }
    }
    if (score > threshold) {
      const corners = centre(boxes[i], boxes[cells + i], boxes[2 * cells + i], boxes[3 * cells + i]);
      found.push({ ...corners, score, classId, index: i });
    }
  }
  return found;
}

function decodeV5({ tensors, threshold }: Workload): Box[] {
  const data = tensors.output0.data;
  const found: Box[] = [];
  for (let i = 0; i < 25200; i++) {
    const objectness = data[i * 85 + 4];
    if (objectness <= threshold) continue;
    const row = data.slice(i * 85, (i + 1) * 85);
    let classId = 0;
    let score = 0;
    for (let c = 0; c < CLASSES; c++) {
      const s = Math.fround(objectness * row[5 + c]);
      if (s > score) {
        score = s;
        classId = c;
      }
    }
    if (score > threshold)
      found.push({ ...centre(row[0], row[1], row[2], row[3]), score, classId, index: i });
  }
  return found;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function decodeV3({ tensors, threshold }: Workload): Box[] {
  const found: Box[] = [];
  for (const { side, mask } of V3_MAPS) {
    const { data } = tensors[`out${side}`];
    const stride = INPUT_V3 / side;
    const value = (anchor: number, channel: number, row: number, col: number): number =>
      data[((anchor * 85 + channel) * side + row) * side + col];
    for (let anchor = 0; anchor < 3; anchor++) {
      for (let row = 0; row < side; row++) {
        for (let col = 0; col < side; col++) {
          const objectness = sigmoid(value(anchor, 4, row, col));
          if (objectness <= threshold) continue;
          let classId = 0;
          let score = 0;
          for (let c = 0; c < CLASSES; c++) {
            const s = objectness * sigmoid(value(anchor, 5 + c, row, col));
            if (s > score) {
              score = s;
              classId = c;
            }
          }
          if (score <= threshold) continue;
          const corners = centre(
            (col + sigmoid(value(anchor, 0, row, col))) * stride,
            (row + sigmoid(value(anchor, 1, row, col))) * stride,
            Math.exp(value(anchor, 2, row, col)) * V3_ANCHORS[2 * mask[anchor]],
            Math.exp(value(anchor, 3, row, col)) * V3_ANCHORS[2 * mask[anchor] + 1],
          );
          found.push({ ...corners, score, classId, index: found.length });
        }
      }
    }
  }
  return found;
}

function boxesOf({ tensors }: Workload): Box[] {
  const { data } = tensors.boxes;
  return Array.from(tensors.scores.data, (score, i) => ({
    x1: data[4 * i],
    y1: data[4 * i + 1],
    x2: data[4 * i + 2],
    y2: data[4 * i + 3],
    score,
    classId: 0,
    index: i,
  }));
}

export function prepare(workload: Workload): Prepared {
  const size = workload.kind === "v3" ? INPUT_V3 : INPUT;
  // Suppression alone starts from the objects its user already has.
  const given = workload.kind === "nms" ? boxesOf(workload) : [];
  let kept: Box[] = [];
  const run = (): number => {
    const boxes =
      workload.kind === "nms"
        ? given
        : workload.kind === "v5"
          ? decodeV5(workload)
          : workload.kind === "v3"
            ? decodeV3(workload)
            : decodeV8(workload);
    kept = nonMaxSuppression(boxes);
    return kept.length;
  };
  const unit = (x: number): number => Math.min(1, Math.max(0, x / size));
  const found = (): Found => ({
    count: kept.length,
    boxes: kept.flatMap((b) => [unit(b.x1), unit(b.y1), unit(b.x2), unit(b.y2)]),
    scores: kept.map((b) => b.score),
    classIds: kept.map((b) => b.classId),
    kept: kept.map((b) => b.index),
  });
  return { run, found };
}
