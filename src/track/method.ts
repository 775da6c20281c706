import type { TrackerFrame } from "./frame.ts";
import type { Tracks } from "./tracks.ts";

/** One of the published trackers. */
export interface Method {
  readonly tracks: Tracks;
  /** Advances all tracks to the frame and matches its detections. `tracks.detection` has the matches. */
  step(frame: TrackerFrame): void;
  /** True if the caller gets the id of this track in this frame. */
  isShown(row: number, frame: TrackerFrame): boolean;
  /** True if some matches are not the best, since too many boxes overlap: `Assignment.wasCut`. */
  readonly wasCut: boolean;
  /** Box of each track for the caller, as corners in pixels. */
  readonly shownBoxes: Float64Array;
}

/** Returns the count of frames without a detection after which a track ends. Adds half a frame for jitter. */
export const framesOf = ({ maxLost, frameRate }: { maxLost: number; frameRate: number }): number =>
  maxLost * frameRate + 0.5;
