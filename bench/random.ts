/** Seeded numbers: the same bytes on every machine, so that digests and counts can be compared. */
export type Random = () => number;

/** Uniform in [0, 1), 32 bits of state. */
export function mulberry32(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Standard normal draws by Box and Muller; both halves of a pair are used. */
export function gaussian(random: Random): Random {
  let spare = NaN;
  return () => {
    if (spare === spare) {
      const value = spare;
      spare = NaN;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
