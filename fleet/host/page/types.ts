/**
 * Types of the host's events, which `src/live/live.ts` and `src/http/page.ts` make. `drawCanvas` takes their
 * detections.
 */
import type { Drawn } from "boxwright";
import type { FleetTotals } from "../src/store/query.ts";
import type { CameraView, PictureView } from "../src/live/live.ts";

export interface Picture extends Omit<PictureView, "detections"> {
  readonly detections: readonly Drawn[] | null;
}

export interface Camera extends Omit<CameraView, "picture" | "strip"> {
  readonly picture: Picture | null;
  readonly strip: readonly Picture[];
}

export interface State {
  readonly fleet: FleetTotals;
  readonly totals: Readonly<Record<string, number | null>>;
  readonly cameras: readonly Camera[];
}
