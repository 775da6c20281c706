import type { TrackerFrame } from "./frame.ts";
import type { Tracks } from "./tracks.ts";

/** One of the published trackers. */
export interface Method {
  readonly tracks: Tracks;
  /** Advances all tracks to the frame and matches its detections. `tracks.detection` has the matches. */
  step(frame: TrackerFrame): void;
  /** True if the caller gets the id of a track that was found in this frame. */
  isShown(row: number, frame: TrackerFrame): boolean;
  /** True if, for too many overlapping boxes, some matches were not the best: `Assignment.wasCut`. */
  readonly wasCut: boolean;
  /** Box of each track for the caller, as corners in pixels. */
  readonly shownBoxes: Float64Array;
}

/** Returns the count of frames without a detection after which a track is given up. Adds half a frame for jitter. */
export const framesOf = ({ maxLost, frameRate }: { maxLost: number; frameRate: number }): number =>
  maxLost * frameRate + 0.5;
