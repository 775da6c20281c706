/** One check as data: when it runs, what it needs, and what it tells. */
import type { Best } from "../decode/best.ts";
import type { Checked } from "../decode/checks.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { ImageInput } from "../decode/prepare.ts";
import type { PlanInMemory } from "../decode/values.ts";

/**
 * When a check runs. A "first ..." runs once for a plan, others until they have told something:
 * - "first tensors": before the first scan;
 * - "image": after each image;
 * - "first boxes", "boxes": after the first image with candidates, after each;
 * - "no boxes": after each image without candidates;
 * - "first result": after the first image with detections, when tasks have made their part of them;
 * - "empty frames": after the first frame if it is empty, and after many empty ones in a row;
 * - "picture": after each picture that was prepared;
 * - "packet": after each packet of detections.
 */
export const MOMENTS = [
  "first tensors",
  "image",
  "first boxes",
  "boxes",
  "no boxes",
  "first result",
  "empty frames",
  "picture",
  "packet",
] as const;
export type When = (typeof MOMENTS)[number];

/** What a check looks at. */
export interface Moment<W extends Checked = Checked> {
  readonly work: W;
  /** Index of the image in its batch, its plan block and its frame. */
  readonly image: number;
  readonly block: number;
  readonly frame: Frame | undefined;
  /** Count of frames so far, this one included. */
  readonly frames: number;
  /** The slots hold whole tensors, and not only the rows that pass. */
  readonly isWhole: boolean;
  /** Count of the probabilities of the first tensors that are NaN or -Infinity. */
  readonly lost: number;
  readonly detections: Detections;
  /** The best score of an empty frame, the lowest threshold, and count of empty frames in a row. */
  readonly best: Best | null;
  readonly threshold: number;
  readonly emptyFrames: number;
  /** True if any frame had a candidate. */
  readonly hasFound: boolean;
  /** Names of the classes, and their stated count. */
  readonly labels: readonly string[] | null;
  readonly classes: number | null;
  /** The class ids of a packet. */
  readonly classIds: Int32Array;
  /** The picture that was prepared, the last frame of one, and the size of the network's input. */
  readonly picture: ImageInput | null;
  readonly prepared: Frame | null;
  /** True if `prepared` is surely the picture of this frame: one was prepared before each decode, and no other. */
  readonly isOfPrepared: boolean;
  readonly inputSize: readonly [number, number];
}

/** `M`: what the check may look at. */
interface Row<N extends string, M> {
  readonly id: string;
  readonly when: When;
  /**
   * "frame": what every decoder has. "plan": the plan of a config, which a plan file does not hold. "tensors": the
   * plan, and slots with whole tensors.
   */
  readonly needs: N;
  /** Checks that tell of the same mistake in more fitting words: once one has told, this one no longer runs. */
  readonly unless?: readonly string[];
  /** False if a plan has nothing for the check to look at. Default: true. */
  readonly applies?: (work: Checked) => boolean;
  /** Returns a note, null for none. Throws a TensorError for what cannot be right. */
  readonly run: (at: M) => string | null;
}

export type Check = Row<"frame", Moment> | Row<"plan" | "tensors", Moment<PlanInMemory>>;

/** A check, or a function that makes one with a memory of its own for each plan. */
export type CheckRow = Check | (() => Check);
