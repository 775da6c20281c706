/**
 * Shadow of a roll-out: before its first step, a share of the devices decodes some frames by the new version as well,
 * and runs the old one. Limits that a person set then open the first step, or stop the roll-out.
 */
import { UserError } from "../core/errors.ts";

export interface Shadow {
  /** Per cent of the group that compare. */
  readonly share: number;
  /** They compare each of so many frames. */
  readonly every: number;
  /** Per cent of boxes that have to agree. */
  readonly min_agreement: number;
  /** Frames with boxes that have to be compared, in all. */
  readonly min_frames: number;
  /** Per cent that a frame may take longer. */
  readonly max_slowdown: number;
  /** True: devices send snaps of their largest disagreements. */
  readonly snaps: boolean;
}

/** What a person gives of a shadow. */
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

/** Bounds of the counts that a person gives. One device reports at most a million frames. */
export const SHADOW_BOUNDS = {
  ...{ sharePercent: [1, 100], every: [1, 10_000], minAgreementPercent: [1, 100] },
  ...{ minFrames: [1, 1_000_000], maxSlowdownPercent: [0, 1000] },
} as const satisfies Record<Exclude<keyof GivenShadow, "snaps">, readonly [number, number]>;

/**
 * Returns the shadow that a person gave, with what is usual for the rest; undefined: they gave none.
 * @throws UserError
 */
export function readShadow(given: GivenShadow | undefined): Shadow | undefined {
  if (given === undefined) return undefined;
  const count = (name: keyof typeof SHADOW_BOUNDS, usual: number): number => {
    const value = given[name] ?? usual;
    const [min, max] = SHADOW_BOUNDS[name];
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new UserError(
      `shadow.${name}: got ${value}, expected a whole number from ${min} to ${max}`,
      400,
      `Enter a whole number from ${min} to ${max}.`,
    );
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

/** Reads the shadow that the database holds. */
export const parseShadow = (text: string | null): Shadow | undefined =>
  text === null ? undefined : (JSON.parse(text) as Shadow);

/** Share of a roll-out whose devices compare: none has the new version yet. */
export const SHADOW_SHARE = 0;
