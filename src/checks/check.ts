/** A check as data: when it runs, what it needs, and the note that it gives. */
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

/** The facts that a check looks at. */
export interface Moment<W extends Checked = Checked> {
  readonly work: W;
  /** Index of the image in its batch, its plan block and its frame. */
  readonly image: number;
  readonly block: number;
  readonly frame: Frame | undefined;
  /** Count of frames so far, this one included. */
  readonly frames: number;
  /** True if the slots hold whole tensors. False if they hold only rows that pass. */
  readonly isWhole: boolean;
  /** Count of the probabilities of the first tensors that are NaN or -Infinity. */
  readonly lost: number;
  readonly detections: Detections;
  /** Best score of an empty frame, lowest threshold, and count of empty frames in a row. */
  readonly best: Best | null;
  readonly threshold: number;
  readonly emptyFrames: number;
  /** True if an earlier frame had a candidate. */
  readonly hasFound: boolean;
  /** Class names, and the stated class count. */
  readonly labels: readonly string[] | null;
  readonly classes: number | null;
  /** The class ids of a packet. */
  readonly classIds: Int32Array;
  /** The prepared picture, the last frame that was prepared, and the size of the network's input. */
  readonly picture: ImageInput | null;
  readonly prepared: Frame | null;
  /** True if `prepared` surely belongs to this frame: exactly one picture was prepared before each decode. */
  readonly isOfPrepared: boolean;
  readonly inputSize: readonly [number, number];
}

/** A check that needs `N`. `M`: the facts that it may look at. */
interface Row<N extends string, M> {
  readonly id: string;
  readonly when: When;
  /**
   * Facts that the check needs. "frame": what every decoder has. "plan": also the plan of a config, which a plan file
   * lacks. "tensors": also slots with whole tensors.
   */
  readonly needs: N;
  /** Ids of checks that report the same mistake better. This check ends once one of them has written a note. */
  readonly unless?: readonly string[];
  /** True if the plan has what this check looks at. Default: every plan has. */
  readonly applies?: (work: Checked) => boolean;
  /** Returns a note, or null. Throws a TensorError for input that is certainly wrong. */
  readonly run: (at: M) => string | null;
}

export type Check = Row<"frame", Moment> | Row<"plan" | "tensors", Moment<PlanInMemory>>;

/** A check, or a function that makes a check with its own memory for each plan. */
export type CheckRow = Check | (() => Check);
