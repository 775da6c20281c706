/** Seeded cases of the engine parity test: any head, layout, number type, rules and contents. */
import { RULE_SETS, type Rules, type RuleSet } from "../../src/core/rules.ts";
import type { ElementType } from "../../src/core/tensor.ts";
import { affineOf } from "../../src/decode/frame.ts";
import type { Affine, Thresholds } from "../../src/memory/write.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { planOf } from "./memory-image.ts";
import {
  encode,
  fills,
  kinds,
  mulberry32,
  numbersOf,
  pick,
  quantisation,
  type Fill,
  type Raw,
  type Size,
} from "./seeded-networks.ts";

const TYPES: readonly ElementType[] = ["f32", "f16", "u8", "i8", "i16", "i32"];
const CLASSES = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 80, 91];
const GRIDS: readonly (readonly [number, number])[] = [
  [0, 1],
  [1, 1],
  [3, 1],
  [2, 2],
  [5, 1],
  [4, 2],
  [5, 3],
  [4, 4],
  [17, 1],
  [11, 3],
  [33, 31],
  [32, 32],
  [41, 25],
  [62, 50],
];

export interface Case {
  readonly kind: string;
  readonly size: Size;
  readonly types: readonly ElementType[];
  readonly fill: Fill;
  readonly set: RuleSet;
  readonly rules: Partial<Rules>;
  readonly confidence: number | "per class";
  readonly iou: number;
  readonly keep: boolean;
  readonly max: number;
  readonly seed: number;
}

/** What an image in memory is made of. */
export interface Parts {
  readonly plan: Plan;
  readonly thresholds: Thresholds;
  readonly affine: Affine;
  readonly data: ReadonlyMap<string, Raw>;
}

/** Makes the plan and the tensors of a case. */
export function partsOf(c: Case): Parts {
  const random = mulberry32(c.seed);
  const made = kinds[c.kind](c.size);
  const { classes } = c.size;
  const data = new Map<string, Raw>();
  const specs = made.tensors.map((t, i) => {
    // labels, markers and counts are not quantised: a scale would make other labels of them
    const plain = t.parts.some((p) => p === "label" || p === "marker" || p === "count");
    const floats = c.types[0] === "f16" ? "f16" : "f32";
    const type = plain ? floats : c.types[i % c.types.length];
    const q = quantisation(type, made.probabilities);
    const numbers = numbersOf(t, random, c.fill, made, classes + 1);
    const raw = encode(numbers, type, q.scale, q.zeroPoint);
    if (c.fill === "bits" && !plain) {
      const bytes = new Uint8Array(raw.buffer);
      for (let k = 0; k < bytes.length; k++) bytes[k] = random() * 256;
    }
    data.set(t.spec.name, raw);
    return { ...t.spec, type, ...q };
  });
  const keep = Array.from({ length: classes }, (_, k) => k).filter((k) => k % 3 !== c.seed % 3);
  // the background alone is refused
  if (keep.join() === "0" && /^ssd|first column is none/.test(c.kind)) keep.push(1);
  const plan = planOf(made.config, specs, {
    rules: { set: c.set, ...c.rules },
    maxDetections: c.max,
    ...(c.keep ? { keep } : {}),
  });
  const confidence =
    c.confidence === "per class"
      ? Array.from({ length: plan.classes }, (_, k) => 0.1 + (k % 5) / 8)
      : c.confidence;
  const affine = affineOf({ width: 641, height: 427, resize: "letterbox" }, [416, 320]);
  const thresholds = { confidenceThreshold: confidence, iouThreshold: c.iou, maxDetections: c.max };
  return { plan, thresholds, affine, data };
}

/** Returns the cases of a kind of head. */
export function cases(kind: string, seed: number): Case[] {
  const random = mulberry32(seed);
  const out: Case[] = [];
  const sets = Object.keys(RULE_SETS) as RuleSet[];
  const size = (g: readonly [number, number], classes: number): Size => ({
    w: g[0],
    h: g[1],
    classes: kind.includes("one class") || kind === "blazeface" ? 1 : classes,
    batch: random() < 0.15 ? 2 : 1,
    last: random() < 0.5,
  });
  const one = (s: Size, i: number, types: readonly ElementType[]): Case => ({
    kind,
    size: s,
    types,
    // drawn, not counted through: what is counted in step with the types would meet one of them alone
    fill: pick(random, fills),
    set: pick(random, sets),
    rules: {
      ...(random() < 0.3 ? { multiLabel: true } : {}),
      ...(random() < 0.3 ? { suppress: pick(random, ["class", "all", "none"] as const) } : {}),
      ...(random() < 0.3 ? { clamp: pick(random, ["none", "before", "after", "centre"] as const) } : {}),
      ...(random() < 0.3 ? { pixelOffset: pick(random, [0, 1] as const) } : {}),
      ...(random() < 0.3 ? { iouGate: pick(random, [">", ">="] as const) } : {}),
      ...(random() < 0.2 ? { gate: pick(random, [">", ">="] as const) } : {}),
      ...(random() < 0.2 ? { score: pick(random, ["product", "class"] as const) } : {}),
      ...(random() < 0.2 ? { maxCandidates: pick(random, [0, 1, 7, 100]) } : {}),
    },
    confidence: random() < 0.2 ? "per class" : pick(random, [0, 0.001, 0.25, 0.5, 0.75, 1]),
    iou: pick(random, [0, 0.3, 0.45, 0.5, 1]),
    keep: random() < 0.2,
    max: pick(random, [1, 4, 5, 300, 1000]),
    seed: seed * 1000 + i,
  });
  let i = 0;
  // every grid, every type and every number of classes at least once; the pairing is seeded
  // no cell at all: not where priors or strides have to match it
  const none = !/priors|anchors|blazeface|yolox rows|nanodet|efficientdet maps|picodet rows/.test(kind);
  for (const g of GRIDS.slice(none ? 0 : 1)) {
    for (const type of TYPES) {
      // large ones take turns over the types: every pair of grid and type still comes in some kind of head
      const big = g[0] * g[1] > 1000;
      i++;
      if (big && (i + seed) % 4 !== 0) continue;
      const classes = pick(random, big ? [1, 2, 5, 17] : CLASSES);
      out.push(one(size(g, classes), i, random() < 0.2 ? [type, pick(random, TYPES)] : [type]));
    }
  }
  for (const classes of CLASSES) {
    for (const type of TYPES) {
      out.push(one(size(pick(random, GRIDS.slice(3, 10)), classes), i, [type]));
      i++;
    }
  }
  return out;
}
