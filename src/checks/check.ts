/** A check as data: the moment when it runs, and the function that returns a note. */
import type { Best } from "../decode/best.ts";
import type { Checked } from "../decode/checks.ts";
import type { Detections } from "../decode/detections.ts";
import type { Frame } from "../decode/frame.ts";
import type { ImageInput } from "../decode/prepare.ts";

/**
 * The moment when a check runs. Checks at a "first ..." moment run once for a plan. Other checks run until they have
 * returned a note.
 * - "first tensors": before the first scan;
 * - "image": after each image;
 * - "first boxes", "boxes": after the first image with candidates, after each image with candidates;
 * - "no boxes": after each image without candidates;
 * - "first result": after the first image with detections, when the tasks have completed them;
 * - "empty frames": after the first frame if it is empty, and after many empty frames in a row;
 * - "picture": after each prepared picture;
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

/** The facts that a check may read. */
export interface Moment<W extends Checked = Checked> {
  readonly work: W;
  /** Index of the image in its batch. */
  readonly image: number;
  /** Address of the image's plan block. */
  readonly block: number;
  /** Frame of the image. */
  readonly frame: Frame | undefined;
  /** Count of frames so far, including this one. */
  readonly frames: number;
  /** True if the slots hold whole tensors. False if the slots hold only the rows that passed. */
  readonly isWhole: boolean;
  /** Count of probabilities in the first tensors that are NaN or -Infinity. */
  readonly lost: number;
  readonly detections: Detections;
  /** Best score of an empty frame. */
  readonly best: Best | null;
  /** Lowest score threshold. */
  readonly threshold: number;
  readonly emptyFrames: number;
  /** True if an earlier frame had a candidate. */
  readonly hasFound: boolean;
  /** Class names. */
  readonly labels: readonly string[] | null;
  /** Stated class count. */
  readonly classes: number | null;
  readonly classIds: Int32Array;
  /** The prepared picture. */
  readonly picture: ImageInput | null;
  /** The last frame that `prepare` returned. */
  readonly prepared: Frame | null;
  /** True if `prepared` certainly belongs to this frame: exactly one picture was prepared before each decode. */
  readonly isOfPrepared: boolean;
  readonly inputSize: readonly [number, number];
}

/** Optional properties of a check. */
interface More {
  /** True if the check reads the tensors: it runs only if the slots hold them whole. */
  readonly readsTensors?: boolean;
  /** Ids of checks that describe the same mistake better. A note of one of them ends this check. */
  readonly unless?: readonly string[];
  /** True if the plan has the data that this check reads. Default: every plan has this data. */
  readonly applies?: (work: Checked) => boolean;
}

/**
 * A check. `run` returns a note, or null. It throws a TensorError for input that is certainly wrong. `W` is the type of
 * what the decoder has in memory. Plan files have no plan.
 */
export type Check<W extends Checked = Checked> = readonly [
  id: string,
  when: When,
  run: (at: Moment<W>) => string | null,
  more?: More,
];

/** A check, or a function that makes one for each plan, for a check that must remember something. */
export type CheckRow<W extends Checked = Checked> = Check<W> | (() => Check<W>);
