/** Where frames come from. */
import type { ImageInput } from "boxwright";

/** One picture of a camera. */
export interface SourceFrame {
  readonly image: ImageInput;
  /** Time of capture. */
  readonly time: Date;
  /** Name of the frame within the device: the same one if a recorded frame is read again after a crash. */
  readonly id: string;
  /** Notes that the frame's packet is in the spool: it is not read again. */
  done(): void;
}

/** Counts of a source, kept up to date in place. */
export interface SourceStats {
  /** Live frames that gave way to newer ones. */
  dropped: number;
  /** Pictures that cannot be read. */
  unreadable: number;
  /** Starts of ffmpeg after the first. */
  restarts: number;
}

export interface Source {
  readonly camera: string;
  readonly stats: SourceStats;
  /** What is wrong now, such as a camera that does not answer. Null: nothing. */
  readonly problem: string | null;
  /** Returns the next frame, or null at the end of a recorded source or when the signal ends the wait. */
  next(signal: AbortSignal): Promise<SourceFrame | null>;
  close(): Promise<void>;
}

export const newStats = (): SourceStats => ({ dropped: 0, unreadable: 0, restarts: 0 });
