/** Checks plain values: bytes that are really floats, too coarse scales, angles that are still sigmoids. */
import type { Moment } from "./check.ts";
import { isFloat, shape, volume } from "../core/tensor.ts";
import { areProbabilities, scoreColumns } from "../decode/range.ts";
import { type PlanInMemory, everyValue, valueIn } from "../decode/values.ts";

/** Largest useful quantisation step of a coordinate, as a fraction of the input. */
const MOST_OF_INPUT = 1 / 32;
/** Largest useful quantisation step of a score. */
const MOST_OF_SCORE = 0.25;

/** Returns a note if a scale is too coarse: one scale for boxes in pixels and scores rounds every score. */
export function noteOfCoarseScale({ work: { plan } }: Moment<PlanInMemory>): string | null {
  for (const head of plan.heads) {
    const stepOf = (tensor: number): number => {
      const spec = plan.tensors[tensor];
      return isFloat(spec) || spec.scale === null ? 0 : spec.scale;
    };
    const score = scoreColumns(head).find(
      ({ f, fn }) => areProbabilities(plan, fn) && stepOf(f.tensor) >= MOST_OF_SCORE,
    );
    if (score)
      return noteOfStep(
        shape(plan.tensors[score.f.tensor]),
        stepOf(score.f.tensor),
        `of scores, which lie in 0..1`,
      );
    const isDecoded = ["centre", "corners", "topleft"].includes(head.kind);
    const part = stepOf(head.box.tensor) * Math.max(...head.unit);
    if (isDecoded && part > MOST_OF_INPUT)
      return noteOfStep(
        shape(plan.tensors[head.box.tensor]),
        stepOf(head.box.tensor),
        `of coordinates, and is ${Number((100 * part).toPrecision(3))} % of the input`,
      );
  }
  return null;
}

const noteOfStep = (about: string, step: number, of: string): string =>
  `the scale ${Number(step.toPrecision(4))} of ${about} is one step ${of}: are scale and zeroPoint those of this ` +
  "tensor? If boxes and scores share one scale, export them apart";

/** Smallest count of bytes for a conclusion. Fewer bytes may look like floats by chance. */
const FEWEST_BYTES = 4096;
/** Largest channel count that prevents a conclusion: if it is a multiple of 4, each 4th byte may be a channel. */
const MOST_CHANNELS = 512;
/** Largest count of different upper bytes in floats. These bytes hold the sign and most of the exponent. */
const MOST_EXPONENTS = 16;
const PART_OF_EXPONENTS = 0.99;
/** Smallest count of different lowest bytes in floats. These bytes are noise. */
const LEAST_NOISE = 200;

/** Returns a note if the bytes of a tensor look like the bytes of floats. Else returns null. */
export function noteOfFloatBytes({ work: { plan, memory, layout } }: Moment<PlanInMemory>): string | null {
  const used = new Set(plan.heads.flatMap((head) => scoreColumns(head).map(({ f }) => f.tensor)));
  plan.heads.forEach(({ box }) => used.add(box.tensor));
  for (const tensor of used) {
    const spec = plan.tensors[tensor];
    const count = volume(spec.dims);
    const last = spec.dims[spec.dims.length - 1];
    if (!/^[ui]8$/.test(spec.type) || count < FEWEST_BYTES || (last % 4 === 0 && last <= MOST_CHANNELS))
      continue;
    const bytes = new Uint8Array(memory.buffer, layout.slots[tensor], count);
    if (areFloats(bytes))
      return (
        `the bytes of ${shape(spec)} are those of floats: the lowest of each four is noise, and the highest nearly ` +
        "constant. Pass a Float32Array on the same buffer"
      );
  }
  return null;
}

function areFloats(bytes: Uint8Array): boolean {
  const exponents = new Array<number>(256).fill(0);
  const noise = new Set<number>();
  for (let i = 0; i + 3 < bytes.length; i += 4) {
    noise.add(bytes[i]);
    exponents[bytes[i + 3]]++;
  }
  const most = exponents
    .sort((a, b) => b - a)
    .slice(0, MOST_EXPONENTS)
    .reduce((sum, n) => sum + n, 0);
  return noise.size > LEAST_NOISE && most >= PART_OF_EXPONENTS * Math.floor(bytes.length / 4);
}

/** Smallest count of cells for a conclusion. In recorded frames, one in 3 to 25 angles is below 0. */
const FEWEST_ANGLES = 500;
/** Smallest spread of angles for a conclusion: equal angles prove nothing. */
const LEAST_SPREAD = 0.2;

/** Returns a note if every cell's angle lies in 0..1, a sigmoid's range: radians have a larger one. */
export function noteOfSigmoidAngles({ work }: Moment<PlanInMemory>): string | null {
  const { heads, task } = work.plan;
  if ((task as { readonly angle?: unknown } | undefined)?.angle !== "radians") return null;
  const cells = heads.reduce((sum, head) => sum + (head.extra ? head.cells : 0), 0);
  if (cells < FEWEST_ANGLES) return null;
  let [low, high] = [1, 0];
  for (const head of heads) {
    if (!head.extra) continue;
    if (!everyValue(work, head.cells, head.extra, 1, [0, 1])) return null;
    for (let cell = 0; cell < head.cells; cell++) {
      const angle = valueIn(work, 0, head.extra, cell);
      low = Math.min(low, angle);
      high = Math.max(high, angle);
    }
  }
  return high - low > LEAST_SPREAD
    ? `the angles of all ${cells} cells lie in 0..1, as the results of a sigmoid do, and are read as radians: say ` +
        'angleForm: "fractions" if the angle is (sigmoid - 0.25) pi'
    : null;
}
