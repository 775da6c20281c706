/**
 * The interface between checks and a decoder's frames. `createDecoder` of `boxwright` passes all checks.
 * `createDecoder` of `boxwright/core` passes those in its option `checks`. Without checks, only probabilities outside
 * 0..1 are refused.
 */
import type { MemoryImage } from "../memory/write.ts";
import type { Best } from "./best.ts";
import type { Detections } from "./detections.ts";
import type { Frame } from "./frame.ts";
import type { Ready } from "./loop.ts";
import type { Notes } from "./notes.ts";
import type { ImageInput } from "./prepare.ts";

/** The state of a frame that checks may read. If a plan file made the decoder, `plan` and `layout` are undefined. */
export type Checked = Ready & Partial<MemoryImage>;

/** The parts of a decoder that checks may read. */
export interface CheckedDecoder {
  readonly notes: Notes;
  /** Count of the frames decoded so far. */
  readonly stats: { readonly frames: number };
  /** Labels and class count of the config. The class ids of a packet must fit them. */
  readonly labels: readonly string[] | null;
  readonly classes: number | null;
}

/** Type of the value `checks` of `boxwright/core`. */
export interface Checks {
  /** Returns the checks for the frames of one decoder. */
  readonly watch: (decoder: CheckedDecoder) => FrameChecks;
}

/** Checks the frames of one decoder. Adds notes. Throws a TensorError for input that is certainly wrong. */
export interface FrameChecks {
  /** True if the next frame must be copied whole, to check scores below the threshold, which gathered rows lack. */
  readonly wantsWhole: boolean;
  /**
   * Resets the checks for a new plan.
   * @param labels names of the plan's classes
   */
  begin(work: Checked, labels: readonly string[] | null): void;
  afterPrepare(image: ImageInput, frame: Frame, inputSize: readonly [number, number]): void;
  /** Checks whole tensors before the scan. `lost`: count of probabilities that are NaN or -Infinity. */
  beforeScan(lost: number): void;
  /** Checks the candidates of an image. `isWhole`: the slots hold whole tensors, not only the rows that passed. */
  afterImage(image: number, block: number, frame: Frame | undefined, isWhole: boolean): void;
  /** Checks the result of an image, after tasks have added their part. */
  afterResult(detections: Detections): void;
  /** Counts empty frames. Returns true if the caller must call `afterEmpty` for this frame. */
  wantsBest(candidates: number): boolean;
  /** Checks the best score of an empty frame. `threshold`: the lowest score threshold. */
  afterEmpty(best: Best | null, threshold: number): void;
  /** Checks the class ids of a packet. */
  afterReceive(classIds: Int32Array): void;
}
