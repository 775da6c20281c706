/** `boxwright/track`: ids for detections, over frames. */
export { type Tracker, createTracker } from "../track/tracker.ts";
export type { TrackerInput } from "../track/frame.ts";
export type { ByteTrackOptions, OcSortOptions, SortOptions, TrackerOptions } from "../track/options.ts";
