/** What the host sends: the forms of src/live/live.ts and src/http/page.ts. */
import type { Drawn } from "boxwright/draw";

export interface Picture {
  readonly id: string;
  readonly time: string;
  readonly preview: number | null;
  readonly width: number;
  readonly height: number;
  readonly detections: readonly Drawn[] | null;
  readonly count: number;
  readonly isUnplaced: boolean;
}

export interface Camera {
  readonly key: string;
  readonly source: string;
  readonly subject: string;
  readonly frames: number;
  readonly detections: number;
  readonly missing: number | null;
  readonly latency: number | null;
  readonly lastTime: string | null;
  readonly picture: Picture | null;
}

export interface State {
  readonly totals: Readonly<Record<string, number | null>>;
  readonly cameras: readonly Camera[];
}
