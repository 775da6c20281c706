/**
 * Careful typed JavaScript: what the language gives without WebAssembly, and so the bar for our `ts` engine.
 *
 * - Probabilities are not negative, so their bits order like integers. `(gate - bits) | ...` over eight
 *   elements has its sign set when any is above the gate: no conversion to double, one branch for eight.
 *   Halves are tested two and bytes four to a word. What is flagged wrongly (a negative number) is caught by
 *   the exact test that follows.
 * - Objectness is gated as it stands in the tensor (as a logit in v3); rows whose classes cannot reach the
 *   threshold are passed over with the same integer test.
 * - Candidates go into buckets by the bits of their score, and a bucket is sorted when suppression gets to
 *   it; at the cap the rest is never sorted. Long inputs are first cut down to about the best thousand.
 * - Within a class, the kept boxes form a chain; a candidate meets only its own class.
 * - Nothing is allocated per frame.
 */
import {
  BOX_SCALE_INT8,
  CLASSES,
  fromHalf,
  INPUT,
  INPUT_V3,
  IOU_THRESHOLD,
  MAX_DETECTIONS,
  SCORE_SCALE_INT8,
  V3_ANCHORS,
  V3_MAPS,
  type Workload,
} from "../workloads.ts";
import type { Prepared } from "./common.ts";

const word = new Float32Array(1);
const wordBits = new Int32Array(word.buffer);
const bitsOf = (value: number): number => {
  word[0] = value;
  return wordBits[0];
};

/** Scores in falling order, the earlier first among equals, sorted only as far as they are asked for. */
class Order {
  readonly #ends = new Int32Array(4097);
  readonly #at: Int32Array;
  #bits: Int32Array = new Int32Array(0);
  #n = 0;
  #bucket = 0;
  #next = 0;
  #ready = 0;

  constructor(capacity: number) {
    this.#at = new Int32Array(capacity);
  }

  start(bits: Int32Array, n: number): void {
    this.#bits = bits;
    this.#n = n;
    this.#bucket = this.#next = this.#ready = 0;
    if (n === 0) return;
    let low = 0x7fffffff;
    let high = 0;
    for (let i = 0; i < n; i++) {
      const b = bits[i];
      if (b < low) low = b;
      if (b > high) high = b;
    }
    const want = n < 256 ? 64 : n < 2048 ? 512 : 4096;
    let shift = 0;
    while (((high - low) | 0) >> shift >= want) shift++;
    const buckets = (((high - low) | 0) >> shift) + 1;
    const ends = this.#ends;
    ends.fill(0, 0, buckets);
    for (let i = 0; i < n; i++) ends[(high - bits[i]) >> shift]++;
    let sum = 0;
    for (let b = 0; b < buckets; b++) {
      const size = ends[b];
      ends[b] = sum;
      sum += size;
    }
    const at = this.#at;
    for (let i = 0; i < n; i++) at[ends[(high - bits[i]) >> shift]++] = i;
  }

  /** Index of the next best score, or -1. */
  next(): number {
    if (this.#next === this.#ready) {
      if (this.#ready === this.#n) return -1;
      this.#sortBucket();
    }
    return this.#at[this.#next++];
  }

  #sortBucket(): void {
    const ends = this.#ends;
    const at = this.#at;
    const bits = this.#bits;
    const from = this.#ready;
    while (ends[this.#bucket] === from) this.#bucket++;
    const to = ends[this.#bucket++];
    this.#ready = to;
    if (to - from > 48) {
      at.subarray(from, to).sort((a, b) => bits[b] - bits[a] || a - b);
      return;
    }
    // Equal scores stay in their order: insertion sort is stable, and so was the filling of the buckets.
    for (let i = from + 1; i < to; i++) {
      const index = at[i];
      const key = bits[index];
      let j = i;
      for (; j > from && bits[at[j - 1]] < key; j--) at[j] = at[j - 1];
      at[j] = index;
    }
  }
}

/** Candidates in columns, and the suppression over them. */
class Candidates {
  count = 0;
  readonly score: Float32Array;
  readonly bits: Int32Array;
  readonly label: Uint8Array;
  readonly box: Float32Array;
  readonly #order: Order;
  readonly #head = new Int16Array(CLASSES);
  readonly #chain = new Int16Array(MAX_DETECTIONS);
  readonly #kept = new Float64Array(5 * MAX_DETECTIONS);
  readonly boxes = new Float32Array(4 * MAX_DETECTIONS);
  readonly scores = new Float32Array(MAX_DETECTIONS);
  readonly classIds = new Int32Array(MAX_DETECTIONS);
  found = 0;

  constructor(capacity: number) {
    this.score = new Float32Array(capacity);
    this.bits = new Int32Array(this.score.buffer);
    this.label = new Uint8Array(capacity);
    this.box = new Float32Array(4 * capacity);
    this.#order = new Order(capacity);
  }

  add(label: number, score: number, cx: number, cy: number, w: number, h: number): void {
    const c = this.count++;
    this.score[c] = score;
    this.label[c] = label;
    const box = this.box;
    box[4 * c] = cx;
    box[4 * c + 1] = cy;
    box[4 * c + 2] = w;
    box[4 * c + 3] = h;
  }

  suppress(size: number): void {
    const order = this.#order;
    const { box, label } = this;
    const head = this.#head;
    const chain = this.#chain;
    const kept = this.#kept;
    order.start(this.bits, this.count);
    head.fill(-1);
    let n = 0;
    candidate: while (n < MAX_DETECTIONS) {
      const c = order.next();
      if (c < 0) break;
      const at = 4 * c;
      const halfW = box[at + 2] * 0.5;
      const halfH = box[at + 3] * 0.5;
      const x1 = box[at] - halfW;
      const y1 = box[at + 1] - halfH;
      const x2 = box[at] + halfW;
      const y2 = box[at + 1] + halfH;
      const area = (x2 - x1) * (y2 - y1);
      const own = label[c];
      for (let k = head[own]; k >= 0; k = chain[k]) {
        const p = 5 * k;
        const left = x1 > kept[p] ? x1 : kept[p];
        const right = x2 < kept[p + 2] ? x2 : kept[p + 2];
        if (right <= left) continue;
        const top = y1 > kept[p + 1] ? y1 : kept[p + 1];
        const bottom = y2 < kept[p + 3] ? y2 : kept[p + 3];
        if (bottom <= top) continue;
        const inter = (right - left) * (bottom - top);
        if (inter > IOU_THRESHOLD * (area + kept[p + 4] - inter)) continue candidate;
      }
      const p = 5 * n;
      kept[p] = x1;
      kept[p + 1] = y1;
      kept[p + 2] = x2;
      kept[p + 3] = y2;
      kept[p + 4] = area;
      chain[n] = head[own];
      head[own] = n;
      const out = 4 * n;
      this.boxes[out] = x1 < 0 ? 0 : x1 / size;
      this.boxes[out + 1] = y1 < 0 ? 0 : y1 / size;
      this.boxes[out + 2] = x2 > size ? 1 : x2 / size;
      this.boxes[out + 3] = y2 > size ? 1 : y2 / size;
      this.scores[n] = this.score[c];
      this.classIds[n] = own;
      n++;
    }
    this.found = n;
  }
}

const CELLS = 8400;

/** Takes the eight cells of a group in which one class value is above the gate. */
type Take = (c: number, group: number) => void;

function sieveFloats(words: Int32Array, from: number, gate: number, take: Take): void {
  for (let c = 0; c < CLASSES; c++) {
    let at = from + c * CELLS;
    for (let group = 0; group < CELLS / 8; group++, at += 8) {
      const above =
        (gate - words[at]) |
        (gate - words[at + 1]) |
        (gate - words[at + 2]) |
        (gate - words[at + 3]) |
        (gate - words[at + 4]) |
        (gate - words[at + 5]) |
        (gate - words[at + 6]) |
        (gate - words[at + 7]);
      if (above < 0) take(c, group);
    }
  }
}

function sieveHalves(words: Int32Array, from: number, gate: number, take: Take): void {
  // Added to a half of at most `gate` this leaves its top bit clear; no carry can leave the lane.
  const lift = (0x7fff - gate) * 0x10001;
  for (let c = 0; c < CLASSES; c++) {
    let at = from + (c * CELLS) / 2;
    for (let group = 0; group < CELLS / 8; group++, at += 4) {
      const above =
        (words[at] + lift) | (words[at + 1] + lift) | (words[at + 2] + lift) | (words[at + 3] + lift);
      if ((above & 0x80008000) !== 0) take(c, group);
    }
  }
}

function sieveBytes(words: Int32Array, from: number, gate: number, take: Take): void {
  // Bytes are counted from the zero point of -128, so 0..255; the gate is below 127 of them, and a byte above
  // 127 shows by its own top bit.
  const lift = (127 - gate) * 0x01010101;
  for (let c = 0; c < CLASSES; c++) {
    let at = from + (c * CELLS) / 4;
    for (let group = 0; group < CELLS / 8; group++, at += 2) {
      const a = words[at] ^ 0x80808080;
      const b = words[at + 1] ^ 0x80808080;
      const above = a | b | ((a & 0x7f7f7f7f) + lift) | ((b & 0x7f7f7f7f) + lift);
      if ((above & 0x80808080) !== 0) take(c, group);
    }
  }
}

function preparedOf(candidates: Candidates, run: () => void): Prepared {
  return {
    run: () => {
      run();
      return candidates.found;
    },
    found: () => ({
      count: candidates.found,
      boxes: candidates.boxes,
      scores: candidates.scores,
      classIds: candidates.classIds,
    }),
  };
}

function prepareV8({ tensors, threshold, type }: Workload): Prepared {
  const candidates = new Candidates(CELLS);
  // Best value and class so far of each cell, in the tensor's own terms; few cells are ever written.
  const labels = new Uint8Array(CELLS);
  const flags = new Uint8Array(CELLS / 8);
  const visit = (add: (cell: number) => void): void => {
    for (let group = 0; group < flags.length; group++) {
      if (flags[group] === 0) continue;
      flags[group] = 0;
      for (let cell = 8 * group; cell < 8 * group + 8; cell++) add(cell);
    }
  };
  if (type === "float32") {
    const data = tensors.output0.data as Float32Array;
    const words = new Int32Array(data.buffer);
    const gate = bitsOf(threshold);
    const best = new Float32Array(CELLS).fill(threshold);
    const floor = best[0];
    const take: Take = (c, group) => {
      flags[group] = 1;
      for (let cell = 8 * group, at = (4 + c) * CELLS + cell, end = cell + 8; cell < end; cell++, at++) {
        if (data[at] > best[cell]) {
          best[cell] = data[at];
          labels[cell] = c;
        }
      }
    };
    const add = (i: number): void => {
      if (best[i] === floor) return;
      candidates.add(labels[i], best[i], data[i], data[CELLS + i], data[2 * CELLS + i], data[3 * CELLS + i]);
      best[i] = floor;
    };
    return preparedOf(candidates, () => {
      candidates.count = 0;
      sieveFloats(words, 4 * CELLS, gate, take);
      visit(add);
      candidates.suppress(INPUT);
    });
  }
  const half = type === "float16";
  const boxes = (half ? tensors.output0.data : tensors.boxes.data) as Uint16Array | Int8Array;
  const scores = (half ? tensors.output0.data : tensors.scores.data) as Uint16Array | Int8Array;
  const first = half ? 4 * CELLS : 0;
  const words = new Int32Array(scores.buffer);
  const boxScale = Math.fround(BOX_SCALE_INT8);
  const scoreScale = Math.fround(SCORE_SCALE_INT8);
  const boxOf = half ? fromHalf : (raw: number): number => (raw + 128) * boxScale;
  const scoreOf = half ? fromHalf : (raw: number): number => (raw + 128) * scoreScale;
  // The greatest raw value that does not pass.
  let gate = half ? 0 : -128;
  while (scoreOf(gate + 1) <= threshold) gate++;
  const best = new Int32Array(CELLS).fill(gate);
  const take: Take = (c, group) => {
    flags[group] = 1;
    for (let cell = 8 * group, at = first + c * CELLS + cell, end = cell + 8; cell < end; cell++, at++) {
      if (scores[at] > best[cell]) {
        best[cell] = scores[at];
        labels[cell] = c;
      }
    }
  };
  const add = (i: number): void => {
    if (best[i] === gate) return;
    const box = (j: number): number => boxOf(boxes[j * CELLS + i]);
    candidates.add(labels[i], scoreOf(best[i]), box(0), box(1), box(2), box(3));
    best[i] = gate;
  };
  return preparedOf(candidates, () => {
    candidates.count = 0;
    if (half) sieveHalves(words, 2 * CELLS, gate, take);
    else sieveBytes(words, 0, gate + 128, take);
    visit(add);
    candidates.suppress(INPUT);
  });
}

function prepareV5({ tensors, threshold }: Workload): Prepared {
  const rows = 25200;
  const width = 5 + CLASSES;
  const data = tensors.output0.data as Float32Array;
  const words = new Int32Array(data.buffer);
  const candidates = new Candidates(rows);
  const list = new Int32Array(rows + 1);
  const gate = bitsOf(threshold);
  return preparedOf(candidates, () => {
    candidates.count = 0;
    let n = 0;
    for (let row = 0, at = 4; row < rows; row++, at += width) {
      // The index is always written, the cursor moves by the sign: at a low threshold a branch would be
      // guessed wrong.
      list[n] = row;
      n += (gate - words[at]) >>> 31;
    }
    for (let k = 0; k < n; k++) {
      const row = list[k];
      const at = row * width;
      const objectness = data[at + 4];
      if (!(objectness > threshold)) continue;
      // A class below this cannot bring the product over the threshold; a hair lower, for the rounding.
      const least = bitsOf((threshold / objectness) * 0.999999);
      let above = 0;
      for (let i = at + 5, end = i + CLASSES; i < end; i += 8) {
        above |=
          (least - words[i]) |
          (least - words[i + 1]) |
          (least - words[i + 2]) |
          (least - words[i + 3]) |
          (least - words[i + 4]) |
          (least - words[i + 5]) |
          (least - words[i + 6]) |
          (least - words[i + 7]);
      }
      if (above >= 0) continue;
      let top = 0;
      let label = 0;
      for (let c = 0, i = at + 5; c < CLASSES; c++, i++) {
        const v = data[i];
        if (v > top) {
          top = v;
          label = c;
        }
      }
      const score = Math.fround(objectness * top);
      if (score > threshold) candidates.add(label, score, data[at], data[at + 1], data[at + 2], data[at + 3]);
    }
    candidates.suppress(INPUT);
  });
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function prepareV3({ tensors, threshold }: Workload): Prepared {
  const candidates = new Candidates(3 * (26 * 26 + 13 * 13));
  const gate = Math.log(threshold / (1 - threshold)) - 1e-6;
  const scan = (data: Float32Array, side: number, anchor: number, anchorW: number, anchorH: number): void => {
    const cells = side * side;
    const stride = INPUT_V3 / side;
    const base = anchor * (5 + CLASSES) * cells;
    const objectnessAt = base + 4 * cells;
    for (let cell = 0; cell < cells; cell++) {
      if (!(data[objectnessAt + cell] > gate)) continue;
      let top = -Infinity;
      let label = 0;
      for (let c = 0, at = objectnessAt + cells + cell; c < CLASSES; c++, at += cells) {
        const v = data[at];
        if (v > top) {
          top = v;
          label = c;
        }
      }
      const score = sigmoid(data[objectnessAt + cell]) * sigmoid(top);
      if (!(score > threshold)) continue;
      const at = base + cell;
      candidates.add(
        label,
        score,
        ((cell % side) + sigmoid(data[at])) * stride,
        (((cell / side) | 0) + sigmoid(data[at + cells])) * stride,
        Math.exp(data[at + 2 * cells]) * anchorW,
        Math.exp(data[at + 3 * cells]) * anchorH,
      );
    }
  };
  const maps = V3_MAPS.map(({ side, mask }) => ({
    side,
    mask,
    data: tensors[`out${side}`].data as Float32Array,
  }));
  return preparedOf(candidates, () => {
    candidates.count = 0;
    for (let m = 0; m < maps.length; m++) {
      const { data, side, mask } = maps[m];
      for (let a = 0; a < 3; a++) scan(data, side, a, V3_ANCHORS[2 * mask[a]], V3_ANCHORS[2 * mask[a] + 1]);
    }
    candidates.suppress(INPUT_V3);
  });
}

/** Suppression alone, over all boxes: kept boxes in columns. */
class Nms {
  readonly #boxes: Float32Array;
  readonly #bits: Int32Array;
  readonly #n: number;
  readonly #order: Order;
  readonly #some: Int32Array;
  readonly #someBits: Int32Array;
  readonly #sample = new Int32Array(512);
  /** Twice the centre, and the size, of each kept box. */
  readonly #columns = new Float64Array(4 * MAX_DETECTIONS);
  readonly kept = new Int32Array(MAX_DETECTIONS);
  found = 0;

  constructor(boxes: Float32Array, scores: Float32Array) {
    this.#boxes = boxes;
    this.#bits = new Int32Array(scores.buffer);
    this.#n = scores.length;
    this.#order = new Order(this.#n);
    this.#some = new Int32Array(this.#n + 1);
    this.#someBits = new Int32Array(this.#n + 1);
  }

  run(): void {
    this.found = 0;
    // Most boxes are never needed. A sample says where about the best thousand begin; if they do not fill the
    // cap, four times as many are gathered, then the rest.
    let above = 0x7fffffff;
    for (let want = 1024; this.found < MAX_DETECTIONS; want *= 4) {
      const cut = this.#n <= 2 * want ? -1 : this.#quantile(want);
      const m = this.#gather(cut, above);
      this.#order.start(this.#someBits, m);
      this.#meetAll();
      if (cut < 0) break;
      above = cut;
    }
  }

  #quantile(want: number): number {
    const sample = this.#sample;
    for (let i = 0; i < 512; i++) sample[i] = this.#bits[Math.floor((i * this.#n) / 512)];
    sample.sort();
    return sample[511 - Math.min(511, Math.floor((want * 512) / this.#n))];
  }

  #gather(cut: number, above: number): number {
    const bits = this.#bits;
    const some = this.#some;
    let m = 0;
    for (let i = 0; i < bits.length; i++) {
      some[m] = i;
      this.#someBits[m] = bits[i];
      // Sign of (cut - 1 - bits) and of (bits - above): both set when cut <= bits < above.
      m += ((cut - 1 - bits[i]) & (bits[i] - above)) >>> 31;
    }
    return m;
  }

  #meetAll(): void {
    const boxes = this.#boxes;
    const order = this.#order;
    const columns = this.#columns;
    let n = this.found;
    candidate: while (n < MAX_DETECTIONS) {
      const next = order.next();
      if (next < 0) break;
      const source = this.#some[next];
      const at = 4 * source;
      const x1 = boxes[at];
      const y1 = boxes[at + 1];
      const x2 = boxes[at + 2];
      const y2 = boxes[at + 3];
      const cx = x1 + x2;
      const cy = y1 + y2;
      const w = x2 - x1;
      const h = y2 - y1;
      const area = w * h;
      for (let p = 0, end = 4 * n; p < end; p += 4) {
        // Most kept boxes are elsewhere. One comparison of centres a side is guessed right more often than
        // two of edges.
        const alongX = w + columns[p + 2] - Math.abs(cx - columns[p]);
        if (alongX <= 0) continue;
        const alongY = h + columns[p + 3] - Math.abs(cy - columns[p + 1]);
        if (alongY <= 0) continue;
        const left = (columns[p] - columns[p + 2]) / 2;
        const right = (columns[p] + columns[p + 2]) / 2;
        const top = (columns[p + 1] - columns[p + 3]) / 2;
        const bottom = (columns[p + 1] + columns[p + 3]) / 2;
        const inter =
          ((x2 < right ? x2 : right) - (x1 > left ? x1 : left)) *
          ((y2 < bottom ? y2 : bottom) - (y1 > top ? y1 : top));
        if (inter > IOU_THRESHOLD * (area + columns[p + 2] * columns[p + 3] - inter)) continue candidate;
      }
      const p = 4 * n;
      columns[p] = cx;
      columns[p + 1] = cy;
      columns[p + 2] = w;
      columns[p + 3] = h;
      this.kept[n++] = source;
    }
    this.found = n;
  }
}

function prepareNms({ tensors }: Workload): Prepared {
  const nms = new Nms(tensors.boxes.data as Float32Array, tensors.scores.data as Float32Array);
  return {
    run: () => {
      nms.run();
      return nms.found;
    },
    found: () => ({ count: nms.found, kept: nms.kept, boxes: [], scores: [], classIds: [] }),
  };
}

export function prepare(workload: Workload): Prepared {
  if (workload.kind === "nms") return prepareNms(workload);
  if (workload.kind === "v5") return prepareV5(workload);
  if (workload.kind === "v3") return prepareV3(workload);
  return prepareV8(workload);
}
