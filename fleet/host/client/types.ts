/** Answers of a host. Times are ISO 8601 in UTC with nine fractional digits of a second. */

/** A detection. Corners are relative to the image, from 0 to 1. */
export interface Detection {
  readonly class_id: number;
  readonly label: string | null;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
  /** Keypoints, corners and other fields of the network's task. */
  readonly [field: string]: unknown;
}

/** A stored frame. `source` and `id` identify it permanently. */
export interface StoredFrame {
  readonly source: string;
  readonly id: string;
  /** Name of the camera. */
  readonly subject: string | null;
  /** Time of capture, by the clock of the device. */
  readonly time: string;
  /** Grows by 1 from frame to frame of a camera. */
  readonly sequence: number | null;
  /** Milliseconds by which the device's clock was ahead. Absent: less than a minute. */
  readonly clockAheadMs?: number;
  /** Hash of the config with which the frame was decoded. */
  readonly config: string | null;
  readonly kind: "raw" | "detection";
  readonly storedAt: string;
  /** Position in the order of all frames. Pass it as `after` to continue after this frame. */
  readonly cursor: string;
  /** Size of the image, and how it was resized. */
  readonly frame: { readonly width: number; readonly height: number; readonly [field: string]: unknown } | null;
  readonly detections: readonly Detection[];
}

/** A picture of a camera, and the boxes of the same frame. */
export interface PictureState {
  readonly id: string;
  readonly time: string;
  /** Number of the picture at `/pictures/KEY?number=PREVIEW`. Null if there is none. */
  readonly preview: number | null;
  readonly width: number;
  readonly height: number;
  /** Null if the frame is not stored yet. */
  readonly detections: readonly unknown[] | null;
  /** Count of all detections, of which `detections` has the first 300. */
  readonly count: number;
  /** True if boxes are relative to the network's input. */
  readonly isUnplaced: boolean;
}

export interface CameraState {
  /** KEY of the camera in the address `/pictures/KEY`. */
  readonly key: string;
  readonly source: string;
  /** Name of the device in its hub. Null if unknown. */
  readonly name: string | null;
  readonly subject: string;
  /** Count of stored frames. */
  readonly frames: number;
  readonly detections: number;
  /** Frames that were dropped or have not arrived; null: unknown. */
  readonly missing: number | null;
  /** Milliseconds from capture to storing of a live frame. */
  readonly latency: number | null;
  /** Milliseconds from capture to storing, if a live frame was stored a day or more after its capture. */
  readonly age: number | null;
  /** Milliseconds by which the device's clock is ahead. */
  readonly clockAhead: number | null;
  /** Milliseconds since the last frame arrived. */
  readonly silence: number | null;
  /** Mean milliseconds between the last frames. */
  readonly interval: number | null;
  readonly lastTime: string | null;
  readonly picture: PictureState | null;
  /** Pictures before `picture`, the newest first. */
  readonly strip: readonly PictureState[];
  /** True if the last frame comes from a photo or a video file. */
  readonly isRecorded: boolean;
}

/** The live state: the counts, and the cameras that changed since the last state. */
export interface HostState {
  /** Counts over all hosts of the database. */
  readonly fleet: { readonly cameras: number; readonly frames: number; readonly detections: number };
  /** Counts of this host since its start. */
  readonly totals: Readonly<Record<string, number | null>>;
  readonly cameras: readonly CameraState[];
}
