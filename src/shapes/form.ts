/** The types of the table of forms: sets of output tensors, whose channel counts may contain unknowns. */
import type { DecoderOptions } from "../config/types.ts";
import type { Family } from "../core/family.ts";
import type { TaskName } from "../core/tasks.ts";
import type { ViewKind } from "./views.ts";

/**
 * A count that is unknown until the shapes are known.
 * - `C`: classes
 * - `P`: values of all keypoints of an object
 * - `M`: coefficients of a mask
 * - `X`, `Y`: any counts
 */
export type Unknown = "C" | "P" | "M" | "X" | "Y";

/** One part of a form: one tensor, or one tensor for each level of the network. */
export interface PartRow {
  readonly see: ViewKind;
  /** Terms whose sum is the channel count. An empty list means one value. */
  readonly channels: readonly (number | Unknown)[];
  /** True: one tensor for each feature map. */
  readonly perLevel?: true;
  /** True if the part may have another row count than the boxes, such as prototypes and counts. */
  readonly apart?: true;
  readonly isOptional?: true;
  /** Usual names of the tensor. */
  readonly name?: RegExp;
  /** Role of the tensor in the option `roles`. Proposals state the role if the decoder cannot tell it from names. */
  readonly role?: "boxes" | "scores" | "classIds" | "count" | "objectness";
  /** True: only a tensor of an integer type can be this part. */
  readonly holdsIds?: true;
  /** True: a tensor of an integer type cannot be this part. */
  readonly isFloat?: true;
  /** Storage order. "rows": channels side by side, as in [N,R,K] and [N,h,w,K]. Absent: either order. */
  readonly order?: "rows" | "planes";
  readonly rank?: number;
}

/**
 * Meaning of the row count.
 * - `cells`: one row for each cell of the input; nothing is suppressed
 * - `anchors`: three rows for each cell
 * - `list`: one row for each detection
 * - `queries`: a round count, the same for every picture
 * - `priors`: one row for each prior of a published network
 * - `any`: the form says nothing about the row count
 */
export type RowCount = "cells" | "anchors" | "list" | "queries" | "priors" | "any";

/** One form of output tensors. */
export interface FormRow {
  /** Families with this form, the most common first. */
  readonly families: readonly Family[];
  readonly task?: TaskName;
  readonly parts: { readonly [part: string]: PartRow };
  readonly rows: RowCount;
  /** Possible counts of anchors of a map. The channel count is that of one anchor times this count. */
  readonly anchors?: readonly number[];
  /** Smallest and largest count of feature maps. */
  readonly levels?: readonly [number, number];
  /** True: decoders recognise the usual names of the parts. Proposals state `roles` only for other names. */
  readonly areKnownNames?: true;
  /** True: the form is proposed only if every part has its usual name. */
  readonly isNamed?: true;
  /** True: the form fits only if the network has no further tensor. */
  readonly isWhole?: true;
  /** True: the tensors come in the order of the parts. The order decides if names do not. */
  readonly isInOrder?: true;
  /** Kind of form, if a rule of evidence needs more facts about it. */
  readonly kind?:
    | "queries and nothing"
    | "scores of a picture"
    | "classes of cells"
    | "centres"
    | "heat maps"
    | "bins"
    | "map of text"
    | "packed"
    | "masks alone"
    | "masks of the picture"
    | "masks of boxes"
    | "coordinates"
    | "coordinates of a face";
  /** Count of rows for each cell of a level. Absent: one. */
  readonly perCell?: number;
  /** True if the last score column was never trained. Not if there is one column for each of COCO's ids. */
  readonly isLastUntrained?: true;
  /** Count of channels that are not classes, such as the background. */
  readonly others?: number;
  /** Class count of all networks of this form, for forms without a channel count that tells the classes. */
  readonly classes?: 1 | null;
  /** Returns the keypoints of an object, given the channels and the map width of the part `points`. */
  readonly pointsIn?: (channels: number, width: number, classes: number) => readonly [number, 2 | 3];
  /** Returns the class count, given the length and the element type of a buffer. */
  readonly classesIn?: (length: number, type: string | null) => number | null;
  /** Possible row counts of networks of this form. */
  readonly counts?: readonly number[];
  /** Possible keypoints: [count, values of one keypoint]. */
  readonly points?: readonly (readonly [number, 2 | 3])[];
  /** Further options that a config for this form needs. */
  readonly options?: Partial<DecoderOptions>;
  /** True: a more common family has tensors of the same shape. */
  readonly isLookalike?: true;
  /** Points for how common the form is, by estimate. */
  readonly usual?: number;
  /** Matches the names of further tensors that may be present. Decoders do not read these tensors. */
  readonly beside?: RegExp;
  /** Shapes of an example network. A test uses them. */
  readonly example: string;
}
