import type { TrackerFrame } from "./frame.ts";
import type { Tracks } from "./tracks.ts";

/** One of the published trackers. */
export interface Method {
  readonly tracks: Tracks;
  /** Advances all tracks to the frame and matches its detections. `tracks.detection` has the matches. */
  step(frame: TrackerFrame): void;
  /** True if the id of a track that was found in this frame is given to the caller. */
  isShown(row: number, frame: TrackerFrame): boolean;
  /** True if so many boxes have overlapped that not all matches were the best ones: `Assignment.wasCut`. */
  readonly wasCut: boolean;
  /** Box of each track for the caller, as corners in pixels. */
  readonly shownBoxes: Float64Array;
}

/** Returns the frames after which a track that is not found in a frame is given up. Half a frame allows for jitter. */
export const framesOf = ({ maxLost, frameRate }: { maxLost: number; frameRate: number }): number =>
  maxLost * frameRate + 0.5;
