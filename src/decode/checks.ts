/**
 * How a decoder lets checks look at its frames. `createDecoder` of `boxwright` passes all checks, that of
 * `boxwright/core` those of its option `checks`. Without checks only probabilities outside 0..1 are refused.
 */
import type { MemoryImage } from "../memory/write.ts";
import type { Best } from "./best.ts";
import type { Detections } from "./detections.ts";
import type { Frame } from "./frame.ts";
import type { Ready } from "./loop.ts";
import type { Notes } from "./notes.ts";
import type { ImageInput } from "./prepare.ts";

/** The state that a frame runs on. A decoder of a plan file has neither plan nor layout. */
export type Checked = Ready & Partial<MemoryImage>;

/** A decoder, as far as checks know it. */
export interface CheckedDecoder {
  readonly notes: Notes;
  /** Count of frames that were decoded. */
  readonly stats: { readonly frames: number };
  /** Labels and count of classes of the config, which a packet's class ids have to fit. */
  readonly labels: readonly string[] | null;
  readonly classes: number | null;
}

/** The value `checks` of `boxwright/core`. */
export interface Checks {
  /** Returns what watches the frames of a decoder. */
  readonly watch: (decoder: CheckedDecoder) => FrameChecks;
}

/** Looks at the frames of one decoder. Adds notes, and throws a TensorError for what cannot be right. */
export interface FrameChecks {
  /** True if the next frame has to be copied whole: gathered rows lack the scores that did not pass. */
  readonly wantsWhole: boolean;
  /**
   * Begins anew with a new plan.
   * @param labels names of the plan's classes
   */
  begin(work: Checked, labels: readonly string[] | null): void;
  afterPrepare(image: ImageInput, frame: Frame, inputSize: readonly [number, number]): void;
  /**
   * Looks at the tensors of a frame before it is scanned. Slots hold them whole.
   * @param lost count of the probabilities that are NaN or -Infinity
   */
  beforeScan(lost: number): void;
  /** Looks at the candidates of an image. `isWhole`: the slots hold whole tensors, and not only the rows that pass. */
  afterImage(image: number, block: number, frame: Frame | undefined, isWhole: boolean): void;
  /** Looks at the result of an image: what a task made of the candidates, too. */
  afterResult(detections: Detections): void;
  /** Counts empty frames. Returns true if `afterEmpty` has to be called. */
  wantsBest(candidates: number): boolean;
  /** Looks at the best score of an empty frame. `threshold`: the lowest score threshold. */
  afterEmpty(best: Best | null, threshold: number): void;
  /** Looks at the class ids of a packet. */
  afterReceive(classIds: Int32Array): void;
}
