/**
 * Gates of a roll-out: steps that open automatically once enough devices use the version, and a percentage of failures
 * that stops the roll-out.
 */
import { UserError } from "../core/errors.ts";
import { CLOCK_SKEW_MS } from "../core/clock.ts";

export interface Gates {
  /**
   * Shares of the target's devices in per cent, ascending. If the last step is below 100, a person must widen the
   * roll-out to the other devices.
   */
  readonly steps: readonly number[];
  /** Percentage of a step's devices that must use the version before the next step opens. */
  readonly success_percent: number;
  /** Percentage of a step's devices whose failures stop the roll-out. */
  readonly error_percent: number;
  /** Smallest number of minutes that a step stays open. */
  readonly wait_minutes: number;
}

/** Gates as a person states them. */
export interface GivenGates {
  readonly steps?: readonly number[] | undefined;
  readonly successPercent?: number | undefined;
  readonly errorPercent?: number | undefined;
  readonly waitMinutes?: number | undefined;
}

/**
 * Default failure limit of a roll-out with gates. Fewer failures never stop the roll-out, since a single failure is
 * already a large percentage of a small step.
 */
export const USUAL_FAILURE_LIMIT = 5;
/** Defaults of gates. The wait is an hour, since a network may fail up to an hour after it was applied. */
export const USUAL_GATES = { success_percent: 90, error_percent: 5, wait_minutes: 60 } as const;
const MAX_STEPS = 20;
/** Largest number of minutes that a step may wait: 30 days. */
export const MAX_WAIT_MINUTES = 43_200;
const MINUTE_MS = 60_000;

/**
 * Parses the gates of a request. Returns undefined if the request has none.
 * @throws UserError
 */
export function readGates({ steps, successPercent, errorPercent, waitMinutes }: GivenGates): Gates | undefined {
  const counts = { successPercent, errorPercent, waitMinutes };
  if (steps === undefined) {
    for (const [name, value] of Object.entries(counts))
      if (value !== undefined) throw new UserError(`${name}: got it without steps, expected steps beside it`);
    return undefined;
  }
  checkSteps(steps);
  const success_percent = checkNumber("successPercent", successPercent ?? USUAL_GATES.success_percent, 1, 99);
  const error_percent = checkNumber("errorPercent", errorPercent ?? USUAL_GATES.error_percent, 1, 99);
  const wait_minutes = checkNumber("waitMinutes", waitMinutes ?? USUAL_GATES.wait_minutes, 0, MAX_WAIT_MINUTES);
  // Refuse a sum above 100: a step whose devices have all reported could neither open the next step nor stop the
  // roll-out.
  if (success_percent + error_percent > 100)
    throw new UserError(
      `successPercent, errorPercent: got ${success_percent} and ${error_percent}, expected at most 100 in all`,
      400,
      "Success and failures are together at most 100 per cent. Lower one of them.",
    );
  return { steps, success_percent, error_percent, wait_minutes };
}

function checkSteps(steps: readonly number[]): void {
  const isStep = (step: number, i: number): boolean =>
    Number.isInteger(step) && step >= 1 && step <= 100 && (i === 0 || step > steps[i - 1]!);
  if (steps.length >= 1 && steps.length <= MAX_STEPS && steps.every(isStep)) return;
  throw new UserError(
    `steps: got ${JSON.stringify(steps).slice(0, 80)}, expected 1 to ${MAX_STEPS} ascending whole numbers from 1 to 100`,
    400,
    "Enter steps as ascending numbers, such as 1, 10, 50, 100.",
  );
}

/** Returns a whole number that a person stated, if it is within its bounds. */
export function checkNumber(name: string, given: number, min: number, max: number): number {
  if (Number.isInteger(given) && given >= min && given <= max) return given;
  throw new UserError(
    `${name}: got ${given}, expected a whole number from ${min} to ${max}`,
    400,
    `Enter a whole number from ${min} to ${max}.`,
  );
}

/** Parses the JSON of gates in the database. */
export const parseGates = (text: string | null): Gates | undefined =>
  text === null ? undefined : (JSON.parse(text) as Gates);

/** Returns the next step after a share; undefined after the last step. */
export const nextStep = ({ steps }: Gates, share: number): number | undefined => steps.find((step) => step > share);

/**
 * Counts of devices in all open steps. Devices that failed before a person last changed the roll-out do not count as
 * failed.
 */
export interface StepCount {
  readonly devices: number;
  readonly applied: number;
  readonly failed: number;
}

/**
 * True if failures stop the roll-out: their number reaches the failure limit, and their percentage reaches
 * `error_percent`.
 */
export function isOverError({ error_percent }: Gates, failureLimit: number, { devices, failed }: StepCount): boolean {
  return failed >= failureLimit && failed * 100 >= error_percent * devices;
}

/**
 * True if enough devices use the version. As long as failures are below the limit, failed devices are left out of the
 * percentage, so that one failure does not block a step of one device.
 */
export function isSuccess({ success_percent }: Gates, failureLimit: number, count: StepCount): boolean {
  const { devices, applied, failed } = count;
  const expected = devices - (failed < failureLimit ? failed : 0);
  return applied * 100 >= success_percent * expected;
}

/** True if a step has been open for long enough. Ignores an opening time in the future, written under a wrong clock. */
export function hasWaited({ wait_minutes }: Gates, openedAt: number, now: number): boolean {
  return now - openedAt >= wait_minutes * MINUTE_MS || openedAt > now + CLOCK_SKEW_MS;
}
