/**
 * Packs bytes for src/engine/unpack.ts, which describes the scheme and holds the one decoder. Here is what only a packer needs: which of the
 * many ways to say the same bytes is the shortest. The same bytes give the same text.
 *
 * The steps (literal or copy) are found as the cheapest way through the bytes, by the chances that a pass before it ended with; a few
 * passes settle. The first pass takes the longest copy everywhere.
 */
const PASSES = 6;
/** Of a longer copy the rest is another one from the same distance. */
const LONGEST = 512;

const [BEFORE, INSTRUCTION, REPLACED, FLAGS, NUMBERS, SLOTS] = [
  0x18000, 0x40000, 0x80000, 0x80010, 0x80100, 0x80800,
];

// as in src/engine/unpack.ts
const WEIGHTS = [1, 6, 11, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21];
const RATES = WEIGHTS.map((_, n) => (65536 / (2 * n + 3)) | 0);

/** @param {Uint8Array} data at most 65535 bytes */
export function pack(data) {
  if (data.length > 0xffff) throw new RangeError(`pack: got ${data.length} bytes, expected at most 65535`);
  const contexts = contextsOf(data);
  const copies = copiesOf(data);
  let best = null;
  let steps = greedy(data, copies);
  for (let pass = 0; pass < PASSES; pass++) {
    const coder = new Coder();
    encode(data, contexts, steps, coder);
    const text = coder.end();
    if (best === null || text.length < best.length) best = text;
    steps = cheapest(data, contexts, copies, coder.prices());
  }
  return best;
}

/** What the decoder knows of each place before it reads it; a function of the bytes before it alone. */
function contextsOf(data) {
  const contexts = [];
  let [left, op, opBefore, vector] = [0, 0, 0, 0];
  for (let i = 0; i < data.length; i++) {
    const c = data[i];
    const state = left ? (left < 0 ? 1 : 2) : 3 * vector;
    const here = left ? op : 256 + vector;
    const before = 2 * (i > 0 ? data[i - 1] : 0) + (state ? 1 : 0);
    const instruction = Math.imul((here * 256 + (left ? opBefore : op)) * 32 + left, 0x9e3779b1) >>> 22;
    contexts.push({ state, trees: [here * 256, BEFORE + before * 256, INSTRUCTION + instruction * 256] });
    if (left < 0) left++;
    else if (left) left -= c < 128 ? 1 : 0;
    else {
      opBefore = op;
      op = c;
      left = operands(c, vector);
      vector = c === 253 ? 1 : 0;
    }
  }
  return contexts;
}

/** Operands of an instruction: numbers (LEB128) above 0, bytes of a constant below. WebAssembly Core Specification 2.0, section 5.4. */
function operands(c, vector) {
  if (vector)
    return c < 12 ? 2 : c < 14 ? -16 : c > 20 && c < 35 ? 1 : c > 83 && c < 94 ? 3 : c > 127 ? 1 : 0;
  return c < 32 ? (0x1301c >> c) & 1 : c < 40 ? 1 : c < 63 ? 2 : c < 67 ? 1 : c < 69 ? (66 - c) * 4 : 0;
}

/** For each place the nearest copy of each length that has one: [length, distance], by length. */
function copiesOf(data) {
  const last = new Int32Array(1 << 16).fill(-1);
  const before = new Int32Array(data.length).fill(-1);
  const all = [];
  for (let i = 0; i < data.length; i++) {
    const found = [];
    if (i + 1 < data.length) {
      const key = data[i] * 256 + data[i + 1];
      let longest = 1;
      for (let p = last[key]; p >= 0 && longest < LONGEST; p = before[p]) {
        if (data[p + longest] !== data[i + longest]) continue;
        const length = same(data, p, i);
        if (length > longest) found.push([(longest = length), i - p]);
      }
      before[i] = last[key];
      last[key] = i;
    }
    all.push(found);
  }
  return all;
}

function same(data, p, i) {
  let n = 0;
  while (n < LONGEST && i + n < data.length && data[p + n] === data[i + n]) n++;
  return n;
}

function greedy(data, copies) {
  const steps = [];
  let distance = 1;
  for (let i = 0; i < data.length;) {
    const [length, from] = copies[i][copies[i].length - 1] ?? [0, 0];
    const again = i >= distance ? same(data, i - distance, i) : 0;
    const step = length > Math.max(3, again + 1) ? [length, from] : again > 1 ? [again, distance] : [1, 0];
    if (step[1] > 0) distance = step[1];
    steps.push(step);
    i += step[0];
  }
  return steps;
}

/** The cheapest way through the bytes. What a step costs hangs on the steps before it: taken is the cheapest way to its place. */
function cheapest(data, contexts, copies, price) {
  const n = data.length;
  const cost = new Float64Array(n + 1).fill(Infinity);
  const came = Array.from({ length: n + 1 }, () => null);
  cost[0] = 0;
  came[0] = { steps: 0, distance: 1, step: null };
  for (let i = 0; i < n; i++) {
    const { steps, distance } = came[i];
    const reach = (length, from, kind) => {
      const c = cost[i] + stepCost(data, contexts, i, steps, distance, length, from, price);
      if (c < cost[i + length]) {
        cost[i + length] = c;
        came[i + length] = {
          steps: (steps * 3 + kind) % 9,
          distance: from || distance,
          step: [length, from],
        };
      }
    };
    reach(1, 0, 0);
    const again = i >= distance ? same(data, i - distance, i) : 0;
    for (let length = again; length > 0; length -= length > 64 ? 8 : 1) reach(length, distance, 2);
    let shortest = 2;
    for (const [longest, from] of copies[i]) {
      if (from !== distance)
        for (let length = longest; length >= shortest; length -= length > 64 ? 8 : 1) reach(length, from, 1);
      shortest = longest + 1;
    }
  }
  const found = [];
  for (let i = n; i > 0; i -= came[i].step[0]) found.push(came[i].step);
  return found.reverse();
}

function encode(data, contexts, steps, coder) {
  const code = (slots, bit) => coder.code(slots, bit) ?? 0;
  let [i, history, distance] = [0, 0, 1];
  for (const [length, from] of steps) {
    stepCost(data, contexts, i, history, distance, length, from, code);
    history = (history * 3 + (from === 0 ? 0 : from === distance ? 2 : 1)) % 9;
    if (from > 0) distance = from;
    i += length;
  }
}

/** Every decision of one step, in the order of the decoder, each given to `code(slots, bit)`; the sum of what that returns. */
function stepCost(data, contexts, i, history, distance, length, from, code) {
  const { state, trees } = contexts[i];
  let cost = code([FLAGS + 16 * state + history], from > 0 ? 1 : 0);
  const number = (base, n) => {
    const more = 31 - Math.clz32(n);
    let bits = 1;
    for (let b = 3; b >= 0; b--) {
      cost += code([base + bits], (more >> b) & 1);
      bits = 2 * bits + ((more >> b) & 1);
    }
    for (let b = more - 1; b >= 0; b--) {
      const known = n >> (b + 1);
      cost += code([base + 8 * (bits - 14) + (known < 8 ? known : 0)], (n >> b) & 1);
    }
  };
  if (from > 0) {
    const again = from === distance ? 1 : 0;
    cost += code([FLAGS + 64 + history], again);
    if (again) number(NUMBERS, length);
    else {
      number(NUMBERS + 0x100, length - 1);
      number(NUMBERS + 0x100 * Math.min(length, 5), from);
    }
    return cost;
  }
  const not = history % 3 > 0 ? data[i - distance] | 256 : 0;
  let c = 1;
  for (let b = 7; b >= 0; b--) {
    const slots = trees.map((tree) => tree + c);
    if (not >> (b + 1) === c) slots.push(REPLACED + ((not >> b) & 1) * 8 + b);
    const bit = (data[i] >> b) & 1;
    cost += code(slots, bit);
    c = 2 * c + bit;
  }
  return cost;
}

/** The decoder's chances and its range coder, the other way round. */
class Coder {
  #chance = new Int16Array(SLOTS);
  #asked = new Uint8Array(SLOTS);
  #zeros = new Uint32Array(SLOTS);
  #ones = new Uint32Array(SLOTS);
  // the least number of the range is `low`, and what has to be added since its last digit
  #low = 0n;
  #more = 0;
  #range = 1;
  #digits = 0;

  code(slots, bit) {
    let sum = 0;
    let weights = 0;
    for (const slot of slots) {
      const weight = WEIGHTS[this.#asked[slot]];
      sum += weight * this.#chance[slot];
      weights += weight;
    }
    for (; this.#range < 0xc00000; this.#range *= 84) {
      this.#low = (this.#low + BigInt(this.#more)) * 84n;
      this.#more = 0;
      this.#digits++;
    }
    const bound = (this.#range >> 14) * ((((sum / weights) >> 2) + 8192) | 1);
    if (!bit) this.#more += bound;
    this.#range = bit ? bound : this.#range - bound;
    for (const slot of slots) {
      (bit ? this.#ones : this.#zeros)[slot]++;
      this.#chance[slot] += ((bit * 65535 - 32768 - this.#chance[slot]) * RATES[this.#asked[slot]]) >> 15;
      if (this.#asked[slot] < 12) this.#asked[slot]++;
    }
  }

  end() {
    let rest = this.#low + BigInt(this.#more);
    const codes = Array.from({ length: this.#digits }, () => {
      const digit = Number(rest % 84n);
      rest /= 84n;
      return digit + (digit > 51 ? 41 : 40);
    });
    return codes
      .reverse()
      .map((c) => String.fromCharCode(c))
      .join("");
  }

  /** What a decision costs, in bits, by the shares of ones in the whole pass. */
  prices() {
    const [zeros, ones] = [this.#zeros, this.#ones];
    return (slots, bit) => {
      let sum = 0;
      let weights = 0;
      for (const slot of slots) {
        const n = ones[slot] + zeros[slot];
        const weight = Math.min(n / 2, 4) + 0.2;
        sum += (weight * (ones[slot] + 0.4)) / (n + 0.8);
        weights += weight;
      }
      return -Math.log2(bit ? sum / weights : 1 - sum / weights);
    };
  }
}
