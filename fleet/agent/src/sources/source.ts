/**
 * The interface of sources. A source yields the frames of one camera. A frame has an id, a time and a picture. A
 * picture is pixels; a photo is a file.
 */
import type { ImageInput } from "boxwright";

/** One frame of a camera. */
export interface SourceFrame {
  readonly image: ImageInput;
  /** Time of capture. */
  readonly time: Date;
  /** Id of the frame, unique within the device. A recorded frame that is read again after a crash keeps its id. */
  readonly id: string;
  /** Records that the frame's packet is in the spool, so that the frame is not read again. */
  done(): void;
}

/** Counts of a source. The source updates the object in place. */
export interface SourceStats {
  /** Live frames that were dropped for newer ones. */
  dropped: number;
  /** Photos that cannot be read. */
  unreadable: number;
  /** Starts of ffmpeg after the first. */
  restarts: number;
}

export interface Source {
  readonly camera: string;
  /** True if the source's frames were captured before the agent started to read: photos and videos. */
  readonly isRecorded: boolean;
  readonly stats: SourceStats;
  /** The present problem, such as a camera that does not answer; null if there is none. */
  readonly problem: string | null;
  /** Resolves to the next frame. Resolves to null if a recorded source ends or the signal aborts. */
  next(signal: AbortSignal): Promise<SourceFrame | null>;
  close(): Promise<void>;
}

export const newStats = (): SourceStats => ({ dropped: 0, unreadable: 0, restarts: 0 });
