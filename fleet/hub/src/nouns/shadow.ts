/**
 * Shadow of a roll-out: before the first step, some devices run the old version, but also decode some frames with the
 * new version. A person sets limits for the differences. A result within these limits opens the first step, any other
 * result stops the roll-out.
 */
import { checkNumber } from "./gates.ts";

export interface Shadow {
  /** Percentage of the target's devices that compare both versions. */
  readonly share: number;
  /** Each comparing device compares every Nth frame, and this is N. */
  readonly every: number;
  /** Percentage of boxes on which both versions must agree. */
  readonly min_agreement: number;
  /** Number of frames with boxes that all devices together must compare. */
  readonly min_frames: number;
  /** Largest percentage by which the new version may take longer per frame than the old one. */
  readonly max_slowdown: number;
  /** True: devices send snaps of their largest disagreements. */
  readonly snaps: boolean;
}

/** Values of a shadow as a person states them. */
export interface GivenShadow {
  readonly sharePercent?: number | undefined;
  readonly every?: number | undefined;
  readonly minAgreementPercent?: number | undefined;
  readonly minFrames?: number | undefined;
  readonly maxSlowdownPercent?: number | undefined;
  readonly snaps?: boolean | undefined;
}

export const USUAL_SHADOW = {
  ...{ share: 1, every: 10, min_agreement: 95, min_frames: 1000, max_slowdown: 20, snaps: false },
} as const satisfies Shadow;

/** Bounds of the numbers that a person may state. One device reports at most a million frames. */
export const SHADOW_BOUNDS = {
  ...{ sharePercent: [1, 100], every: [1, 10_000], minAgreementPercent: [1, 100] },
  ...{ minFrames: [1, 1_000_000], maxSlowdownPercent: [0, 1000] },
} as const satisfies Record<Exclude<keyof GivenShadow, "snaps">, readonly [number, number]>;

/**
 * Returns a shadow with defaults for absent values. Returns undefined if the person stated no shadow.
 * @throws UserError
 */
export function readShadow(given: GivenShadow | undefined): Shadow | undefined {
  if (given === undefined) return undefined;
  const count = (name: keyof typeof SHADOW_BOUNDS, usual: number): number => {
    const [min, max] = SHADOW_BOUNDS[name];
    return checkNumber(`shadow.${name}`, given[name] ?? usual, min, max);
  };
  return {
    share: count("sharePercent", USUAL_SHADOW.share),
    every: count("every", USUAL_SHADOW.every),
    min_agreement: count("minAgreementPercent", USUAL_SHADOW.min_agreement),
    min_frames: count("minFrames", USUAL_SHADOW.min_frames),
    max_slowdown: count("maxSlowdownPercent", USUAL_SHADOW.max_slowdown),
    snaps: given.snaps ?? USUAL_SHADOW.snaps,
  };
}

/** Parses the JSON of a shadow in the database. */
export const parseShadow = (text: string | null): Shadow | undefined =>
  text === null ? undefined : (JSON.parse(text) as Shadow);

/** Share of a roll-out during its shadow: 0, since no device has the new version yet. */
export const SHADOW_SHARE = 0;
