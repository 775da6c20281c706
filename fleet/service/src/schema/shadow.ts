/**
 * Messages of a shadow: the device decodes some of its frames with its own version and with another one, and reports
 * the agreement. Bounds of the fields limit the effect of a wrong report.
 */
import * as v from "valibot";
import { desiredConfig, etag, problem } from "./protocol.ts";
import { count, flag, nullable, object, oneOf, optional, readJson, text, within, type TypeOf } from "./json.ts";

/** Largest number of frames in one report, and of boxes in one frame. */
export const MOST_SHADOW_FRAMES = 1_000_000;
export const MOST_SHADOW_BOXES = 1000;
/** Largest mean duration in a report, in milliseconds. */
export const MOST_SHADOW_MS = 3_600_000;
/** Smallest overlap (IoU) at which two boxes count as the same object. */
export const SHADOW_IOU = 0.5;
/** Name of a snap that shows a disagreement, and key of the entry of its `extras` with the id of the roll-out. */
export const SHADOW_SNAP = "disagreement";
export const SHADOW_EXTRA = "rollout";

const frames = within(0, MOST_SHADOW_FRAMES, true);
const boxes = within(0, MOST_SHADOW_FRAMES * MOST_SHADOW_BOXES, true);
const share = nullable(within(0, 1));
const milliseconds = nullable(within(0, MOST_SHADOW_MS));
const bytes = nullable(within(0, 2 ** 50, true));
const rolloutId = text("the id of a roll-out", /^[\w-]{1,64}$/);

const counts = object({
  rollout: rolloutId,
  /** ETags: of the version in the shadow, and of the one in use. */
  version: etag,
  against: etag,
  /** "failed": the version in the shadow crashed, hung or cannot decode. Comparison has ended. */
  state: oneOf(["comparing", "failed"]),
  error: optional(problem),
  /** Number of frames that both versions decoded. `empty`: number of these without boxes in either version. */
  frames,
  empty: frames,
  /** Number of overlapping pairs of boxes with the same class. `changed`: number of pairs with different classes. */
  matched: boxes,
  changed: boxes,
  /** Numbers of boxes that only one of the versions found. */
  only_old: boxes,
  only_new: boxes,
  /** Mean confidence of all boxes. */
  confidence: object({ old: share, new: share }),
  /** Mean milliseconds of the decoder alone, and of the whole frame (prepare, run, decode). */
  decode_ms: object({ old: milliseconds, new: milliseconds }),
  frame_ms: object({ old: milliseconds, new: milliseconds }),
  /** Resident bytes of the agent, and of the process of the shadow. */
  memory: object({ old: bytes, new: bytes }),
});

const FITS = "counts of boxes that fit the counts of frames";
const shadowReport = v.pipe(
  counts,
  v.check(({ frames, empty, matched, changed, only_old, only_new }) => {
    const found = matched + changed + only_old + only_new;
    const seen = frames - empty;
    return seen >= 0 && found >= seen && found <= seen * MOST_SHADOW_BOXES;
  }, FITS),
);
export type ShadowReport = TypeOf<typeof shadowReport>;

/** Task from the hub: a version that a device decodes in the shadow of its own. */
const desiredShadow = object({
  rollout: rolloutId,
  etag,
  /** ETag of the version to compare with. While the device runs another version, it compares nothing. */
  against: etag,
  /** Number N: the device compares every Nth frame. */
  every: count,
  /** True: send snaps of the largest disagreements. */
  snaps: flag,
  version: desiredConfig,
});
export type DesiredShadow = TypeOf<typeof desiredShadow>;

export const readShadowReport = (body: unknown): ShadowReport => readJson(shadowReport, body);
export const readDesiredShadow = (body: unknown): DesiredShadow => readJson(desiredShadow, body);
