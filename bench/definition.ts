/**
 * What a correct answer is, written from the rules and with no thought of speed, and the digest by which
 * every row of the benchmark shows that it found that answer.
 *
 * Rules: score = best class (v8) or objectness x best class, rounded to float32; a candidate's score (and its
 * objectness, where there is one) is strictly above the threshold; the first class wins a tie; candidates in
 * order of score, equal ones by their place in the tensor; one is dropped when a kept one of its class
 * overlaps it by an IoU above 0.45; 300 are kept; corners in 0..1 of the network input, clamped to it at the
 * end.
 */
import { createHash } from "node:crypto";
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
} from "./workloads.ts";

/** The columns every row of the benchmark hands over. `kept` alone for suppression without a decoder. */
export interface Found {
  readonly count: number;
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number>;
  readonly kept?: ArrayLike<number>;
}

export interface Definition extends Found {
  readonly boxes: Float64Array;
  readonly scores: Float64Array;
  readonly classIds: Int32Array;
  readonly kept?: Int32Array;
  /** How many passed the first gate, how many became candidates. */
  readonly passed: number;
  readonly candidates: number;
}

interface Candidate {
  readonly box: readonly [number, number, number, number];
  readonly score: number;
  readonly label: number;
  readonly source: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Element values as the network meant them. */
function real(tensor: BenchTensor): (at: number) => number {
  const { data, type, scale = 1, zeroPoint = 0 } = tensor;
  if (type === "float16") return (at) => fromHalf(data[at]);
  if (type === "int8") return (at) => Math.fround((data[at] - zeroPoint) * Math.fround(scale));
  return (at) => data[at];
}

function best(score: (label: number) => number): [label: number, score: number] {
  let label = 0;
  for (let c = 1; c < CLASSES; c++) if (score(c) > score(label)) label = c;
  return [label, score(label)];
}

const corners = (cx: number, cy: number, w: number, h: number): [number, number, number, number] => [
  cx - w / 2,
  cy - h / 2,
  cx + w / 2,
  cy + h / 2,
];

function iou(a: Candidate["box"], b: Candidate["box"]): number {
  const w = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]));
  const h = Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const area = (box: Candidate["box"]): number => (box[2] - box[0]) * (box[3] - box[1]);
  return (w * h) / (area(a) + area(b) - w * h);
}

function suppress(candidates: Candidate[]): Candidate[] {
  const order = [...candidates].sort((a, b) => b.score - a.score || a.source - b.source);
  const kept: Candidate[] = [];
  for (const candidate of order) {
    if (kept.length === MAX_DETECTIONS) break;
    if (!kept.some((k) => k.label === candidate.label && iou(k.box, candidate.box) > IOU_THRESHOLD))
      kept.push(candidate);
  }
  return kept;
}

export function define(workload: Workload): Definition {
  const { tensors, threshold, kind } = workload;
  const candidates: Candidate[] = [];
  let passed = 0;
  let size = INPUT;
  if (kind === "nms") {
    const { data } = tensors.boxes;
    tensors.scores.data.forEach((score: number, source: number) => {
      const at = 4 * source;
      candidates.push({ box: [data[at], data[at + 1], data[at + 2], data[at + 3]], score, label: 0, source });
    });
    passed = candidates.length;
  } else if (kind === "v8") {
    const cells = 8400;
    const split = tensors.scores !== undefined;
    const boxAt = real(split ? tensors.boxes : tensors.output0);
    const scoreAt = real(split ? tensors.scores : tensors.output0);
    const first = split ? 0 : 4;
    for (let cell = 0; cell < cells; cell++) {
      const [label, score] = best((c) => scoreAt((first + c) * cells + cell));
      if (!(score > threshold)) continue;
      const [cx, cy, w, h] = [0, 1, 2, 3].map((i) => boxAt(i * cells + cell));
      candidates.push({ box: corners(cx, cy, w, h), score, label, source: cell });
    }
    passed = candidates.length;
  } else if (kind === "v5") {
    const { data } = tensors.output0;
    for (let row = 0; row < 25200; row++) {
      const at = 85 * row;
      const objectness = data[at + 4];
      if (!(objectness > threshold)) continue;
      passed++;
      const [label, top] = best((c) => data[at + 5 + c]);
      const score = Math.fround(objectness * top);
      if (!(score > threshold)) continue;
      candidates.push({
        box: corners(data[at], data[at + 1], data[at + 2], data[at + 3]),
        score,
        label,
        source: row,
      });
    }
  } else {
    size = INPUT_V3;
    let source = 0;
    for (const { side, mask } of V3_MAPS) {
      const { data } = tensors[`out${side}`];
      const cells = side * side;
      for (let anchor = 0; anchor < 3; anchor++) {
        for (let cell = 0; cell < cells; cell++, source++) {
          const at = (channel: number): number => data[(anchor * 85 + channel) * cells + cell];
          const objectness = sigmoid(at(4));
          if (!(objectness > threshold)) continue;
          passed++;
          const [label, top] = best((c) => at(5 + c));
          const score = objectness * sigmoid(top);
          if (!(score > threshold)) continue;
          const stride = INPUT_V3 / side;
          const cx = ((cell % side) + sigmoid(at(0))) * stride;
          const cy = (Math.floor(cell / side) + sigmoid(at(1))) * stride;
          const w = Math.exp(at(2)) * V3_ANCHORS[2 * mask[anchor]];
          const h = Math.exp(at(3)) * V3_ANCHORS[2 * mask[anchor] + 1];
          candidates.push({ box: corners(cx, cy, w, h), score, label, source });
        }
      }
    }
  }
  const kept = suppress(candidates);
  const unit = (x: number): number => Math.min(1, Math.max(0, x / size));
  return {
    passed,
    candidates: candidates.length,
    count: kept.length,
    boxes: Float64Array.from(kept.flatMap((k) => k.box.map(unit))),
    scores: Float64Array.from(kept, (k) => k.score),
    classIds: Int32Array.from(kept, (k) => k.label),
    ...(kind === "nms" ? { kept: Int32Array.from(kept, (k) => k.source) } : {}),
  };
}

/**
 * The digest of a row. Engines that compute exp by other means, or a product in another order, differ in the
 * last bits, and plain rounding would still tear two such values apart wherever a rounding boundary lies
 * between them. So each value is first held against the definition's: where it is within the tolerance, the
 * definition's value is hashed in its place, else its own. The tolerance is 1e-4 of the network input for
 * corners; for scores two parts in a million and 1e-7, since some runtimes approximate the sigmoid. Equal
 * digests therefore mean: the same number of detections, in the same order, with the same classes (for `nms`
 * the same indices), every coordinate and score within it.
 */
export function digest(found: Found, truth: Found): string {
  const hash = createHash("sha256");
  if (truth.kept !== undefined) {
    hash.update(Int32Array.from(Array.from({ length: found.count }, (_, i) => found.kept?.[i] ?? -1)));
    return hash.digest("hex").slice(0, 12);
  }
  const row = new Float64Array(6);
  for (let i = 0; i < found.count; i++) {
    row[0] = found.classIds[i];
    const score = found.scores[i];
    row[1] = Math.abs(score - truth.scores[i]) <= 2e-6 * truth.scores[i] + 1e-7 ? truth.scores[i] : score;
    for (let j = 0; j < 4; j++) {
      const x = found.boxes[4 * i + j];
      row[2 + j] = Math.abs(x - truth.boxes[4 * i + j]) <= 1e-4 ? truth.boxes[4 * i + j] : x;
    }
    hash.update(row);
  }
  return hash.digest("hex").slice(0, 12);
}
