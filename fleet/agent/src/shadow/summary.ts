/** Adds up the frames of a shadow, within the limits that the hub accepts. */
import {
  MOST_SHADOW_BOXES,
  MOST_SHADOW_FRAMES,
  MOST_SHADOW_MS,
  readShadowReport,
  type ShadowReport,
} from "boxwright-service/schema/shadow";
import type { Problem } from "boxwright-service/schema/protocol";

/** One compared frame. Times are in milliseconds. */
export interface ShadowFrame {
  readonly matched: number;
  readonly changed: number;
  readonly onlyOld: number;
  readonly onlyNew: number;
  /** Sums of the confidences of all boxes. */
  readonly confidence: { readonly old: number; readonly new: number };
  readonly decode: { readonly old: number; readonly new: number };
  readonly frame: { readonly old: number; readonly new: number };
  /** Resident bytes of the process of the shadow. */
  readonly memory: number;
}

/** Number of frames at the start of a process that are slow, since the code is not compiled yet. */
export const COLD_FRAMES = 5;

/** A mean that can continue from a stored mean. */
class Mean {
  #count: number;
  #value: number;

  constructor(value: number | null, count: number) {
    this.#value = value ?? 0;
    this.#count = value === null ? 0 : count;
  }

  add(sum: number, count = 1): void {
    if (count === 0 || !Number.isFinite(sum)) return;
    this.#count += count;
    this.#value += (sum - this.#value * count) / this.#count;
  }

  within(most: number): number | null {
    return this.#count === 0 ? null : Math.min(most, Math.max(0, this.#value));
  }
}

type Names = Pick<ShadowReport, "rollout" | "version" | "against">;

const nothing = (names: Names): ShadowReport => ({
  ...names,
  state: "comparing",
  error: undefined,
  ...{ frames: 0, empty: 0, matched: 0, changed: 0, only_old: 0, only_new: 0 },
  ...{ confidence: { old: null, new: null }, decode_ms: { old: null, new: null } },
  ...{ frame_ms: { old: null, new: null }, memory: { old: null, new: null } },
});

export class Summary {
  readonly #counts: { -readonly [K in keyof ShadowReport]: ShadowReport[K] };
  readonly #means: Readonly<Record<"confidence" | "decode_ms" | "frame_ms", { old: Mean; new: Mean }>>;
  #fresh = 0;

  /** @param kept JSON of the report of an earlier start; any other text starts a new report */
  constructor(names: Names, kept: string | null = null) {
    this.#counts = { ...(readKept(kept, names) ?? nothing(names)) };
    const { frames, matched, changed, only_old, only_new } = this.#counts;
    const mean = (key: "confidence" | "decode_ms" | "frame_ms", count: { old: number; new: number }) => ({
      old: new Mean(this.#counts[key].old, count.old),
      new: new Mean(this.#counts[key].new, count.new),
    });
    const both = { old: frames, new: frames };
    const found = matched + changed;
    this.#means = {
      confidence: mean("confidence", { old: found + only_old, new: found + only_new }),
      decode_ms: mean("decode_ms", both),
      frame_ms: mean("frame_ms", both),
    };
  }

  /** True if no more frames need to be compared. */
  get isOver(): boolean {
    return this.#counts.state === "failed" || this.#counts.frames >= MOST_SHADOW_FRAMES;
  }

  get report(): ShadowReport {
    const { confidence, decode_ms, frame_ms } = this.#means;
    const pair = (of: { old: Mean; new: Mean }, most: number) => ({
      old: of.old.within(most),
      new: of.new.within(most),
    });
    return {
      ...this.#counts,
      confidence: pair(confidence, 1),
      decode_ms: pair(decode_ms, MOST_SHADOW_MS),
      frame_ms: pair(frame_ms, MOST_SHADOW_MS),
    };
  }

  add(frame: ShadowFrame): void {
    if (this.isOver) return;
    const counts = this.#counts;
    const { matched, changed, onlyOld, onlyNew } = frame;
    const found = matched + changed + onlyOld + onlyNew;
    // Leave out a frame with more boxes than the hub accepts.
    if (found > MOST_SHADOW_BOXES) return;
    counts.frames++;
    if (found === 0) counts.empty++;
    counts.matched += matched;
    counts.changed += changed;
    counts.only_old += onlyOld;
    counts.only_new += onlyNew;
    const { confidence, decode_ms, frame_ms } = this.#means;
    confidence.old.add(frame.confidence.old, matched + changed + onlyOld);
    confidence.new.add(frame.confidence.new, matched + changed + onlyNew);
    counts.memory = { old: process.memoryUsage.rss(), new: Math.round(frame.memory) };
    if (this.#fresh++ < COLD_FRAMES) return;
    for (const version of ["old", "new"] as const) {
      decode_ms[version].add(frame.decode[version]);
      frame_ms[version].add(frame.frame[version]);
    }
  }

  /** Records that the version in the shadow failed. */
  fail(error: Problem): void {
    this.#counts.state = "failed";
    this.#counts.error = error;
  }
}

function readKept(kept: string | null, names: Names): ShadowReport | null {
  try {
    const report = readShadowReport(JSON.parse(kept ?? "null"));
    const isSame = (["rollout", "version", "against"] as const).every((name) => report[name] === names[name]);
    return isSame ? report : null;
  } catch {
    // Ignore the text: it is damaged, or another version of the agent wrote it.
    return null;
  }
}
