/**
 * Unpacks what scripts/pack.mjs packed: a dictionary coder (LZ77) whose every decision goes through an adaptive binary range coder, as in
 * LZMA (Igor Pavlov, "LZMA specification", 2015), with contexts made for WebAssembly: a literal is predicted from where it stands in its
 * instruction, from the byte before it, and from the instruction before it. Other bytes pack too, only less tightly.
 *
 * Its numbers are integers below 2^30, for which even an interpreter allocates nothing: this runs once, cold.
 */

/** One table holds all chances: three trees of 256 for each context of a literal, then these. */
const BEFORE = 0x18000;
const INSTRUCTION = 0x40000;
const REPLACED = 0x80000;
const FLAGS = 0x80010;
const NUMBERS = 0x80100;

/** Of a chance that was asked for n times: how much it counts in a mean, and how far it moves, in 2^-15: 1 / (n + 1.5). */
const WEIGHTS = [1, 6, 11, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21];
const RATES = WEIGHTS.map((_, n) => (65536 / (2 * n + 3)) | 0);

/** The first `length` bytes of what was packed: for fewer, less of the text is read. */
export function unpack(text: string, length: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(length);
  // the chance of a one, less a half, in 2^-16, and how often it was asked for
  const chance = new Int16Array(0x80800);
  const asked = new Uint8Array(0x80800);
  const slots = new Int32Array(4);
  let at = 0;
  let range = 1;
  let code = 0;
  /** One decision, by the mean of the chances in the first `n` slots: those asked for more often weigh more. */
  const decide = (n: number): number => {
    let sum = 0;
    let weights = 0;
    for (let k = 0; k < n; k++) {
      const slot = slots[k];
      const weight = WEIGHTS[asked[slot]];
      sum += weight * chance[slot];
      weights += weight;
    }
    // a digit a character: from "(" to "|", the backslash left out; more letters than a power of two, as gzip then gives more room to
    // those that the code around the text is made of
    for (; range < 0xc00000; range *= 84) {
      const c = text.charCodeAt(at++);
      code = code * 84 + c - (c > 92 ? 41 : 40);
    }
    // fourteen bits of the chance; neither side is ever empty
    const bound = (range >> 14) * ((((sum / weights) >> 2) + 8192) | 1);
    const bit = code < bound ? 1 : 0;
    range = bit ? bound : range - bound;
    if (!bit) code -= bound;
    for (let k = 0; k < n; k++) {
      const slot = slots[k];
      chance[slot] += ((bit * 65535 - 32768 - chance[slot]) * RATES[asked[slot]]) >> 15;
      if (asked[slot] < 12) asked[slot]++;
    }
    return bit;
  };
  const flag = (slot: number): number => {
    slots[0] = slot;
    return decide(1);
  };
  /** A number from 1 up: how many bits follow the first, then these, of which the first three are worth predicting. */
  const number = (base: number): number => {
    let bits = 1;
    while (bits < 16) bits = 2 * bits + flag(base + bits);
    let n = 1;
    for (let k = bits; k > 16; k--) n = 2 * n + flag(base + 8 * (bits - 14) + (n < 8 ? n : 0));
    return n;
  };

  // operand bytes or numbers still to come (below 0: bytes of a constant), the last two instructions, and whether a vector prefix came last
  let left = 0;
  let op = 0;
  let opBefore = 0;
  let vector = 0;
  // the last two steps, 0: a literal, 1: a copy, 2: a copy from the distance of the one before
  let steps = 0;
  let copies = 0;
  let distance = 1;
  let c = 0;
  for (let i = 0; i < length; i++) {
    const state = left ? (left < 0 ? 1 : 2) : 3 * vector;
    const copied = steps % 3;
    if (!copies && flag(FLAGS + 16 * state + steps)) {
      if (flag(FLAGS + 64 + steps)) {
        copies = number(NUMBERS);
        steps = (steps * 3 + 2) % 9;
      } else {
        copies = number(NUMBERS + 0x100) + 1;
        distance = number(NUMBERS + 0x100 * Math.min(copies, 5));
        steps = (steps * 3 + 1) % 9;
      }
    }
    const before = 2 * c + (state ? 1 : 0);
    c = out[i - distance] | 256;
    if (copies) copies--;
    else {
      // what the copy would have gone on with is not it, or the copy had gone on
      const not = copied ? c : 0;
      const here = left ? op : 256 + vector;
      const instruction = Math.imul((here * 256 + (left ? opBefore : op)) * 32 + left, 0x9e3779b1) >>> 22;
      c = 1;
      for (let b = 7; b >= 0; b--) {
        slots[0] = here * 256 + c;
        slots[1] = BEFORE + before * 256 + c;
        slots[2] = INSTRUCTION + instruction * 256 + c;
        slots[3] = REPLACED + (((not >> b) & 1) * 8 + b);
        c = 2 * c + decide(not >> (b + 1) === c ? 4 : 3);
      }
      steps = (steps * 3) % 9;
    }
    out[i] = c;
    c &= 255;
    if (left < 0) left++;
    else if (left) left -= c < 128 ? 1 : 0;
    else {
      opBefore = op;
      op = c;
      left = vector
        ? c < 12
          ? 2
          : c < 14
            ? -16
            : c > 20 && c < 35
              ? 1
              : c > 83 && c < 94
                ? 3
                : c > 127
                  ? 1
                  : 0
        : c < 32
          ? (0x1301c >> c) & 1
          : c < 40
            ? 1
            : c < 63
              ? 2
              : c < 67
                ? 1
                : c < 69
                  ? (66 - c) * 4
                  : 0;
      vector = c === 253 ? 1 : 0;
    }
  }
  return out;
}
