/** Judges a version on trial by the reports of its process. */

/** Report of a process to its launcher, about twice a second. */
export interface Told {
  /** Heartbeats that the hub has acknowledged since the process started. */
  readonly beats: number;
  /** Milliseconds since the last acknowledged heartbeat. */
  readonly sinceBeat: number;
  /** Frames since the process started. */
  readonly frames: number;
  readonly isPaused: boolean;
}

/** Milliseconds without an acknowledged heartbeat after which a process is unhealthy: three heartbeats are missing. */
const SILENT = 100_000;
/** Largest duration of a trial, as a multiple of the time for which a version must be healthy. */
const PATIENCE = 3;

export interface Rules {
  /** Milliseconds for which a version must stay healthy. */
  readonly healthy: number;
  /** True if the earlier version received frames. */
  readonly expectsFrames: boolean;
}

export type Verdict =
  { readonly kind: "wait" | "keep" } | { readonly kind: "fail"; readonly code: string; readonly message: string };

/** @param ran milliseconds since the process started */
export function judge(told: Told | null, ran: number, { healthy, expectsFrames }: Rules): Verdict {
  const problem = problemOf(told, expectsFrames);
  if (ran >= healthy && problem === null) return { kind: "keep" };
  if (ran < healthy * PATIENCE || problem === null) return { kind: "wait" };
  return { kind: "fail", code: problem[0], message: `${problem[1]} in ${Math.round(ran / 6000) / 10} minutes` };
}

function problemOf(told: Told | null, expectsFrames: boolean): readonly [string, string] | null {
  if (told === null) return ["silent", "it told the launcher nothing"];
  if (told.beats < 2 || told.sinceBeat > SILENT)
    return ["no_heartbeat", "the hub acknowledged no heartbeats of it, or none any more,"];
  if (expectsFrames && told.frames === 0 && !told.isPaused)
    return ["no_frames", "it took no frame, which the version before it did,"];
  return null;
}
