/** Types of the table of forms. A form is a set of output tensors, whose channel counts may contain unknowns. */
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

/** One part of a form, such as the boxes: one tensor, or one tensor for each level (feature map) of the network. */
export interface PartRow {
  readonly see: ViewKind;
  /** Terms whose sum is the channel count. An empty list means one value. */
  readonly channels: readonly (number | Unknown)[];
  /** True: one tensor for each feature map. */
  readonly perLevel?: true;
  /** True if the part's row count is independent of the other parts', as for prototypes and counts. */
  readonly apart?: true;
  readonly isOptional?: true;
  /** Usual names of the tensor. */
  readonly name?: RegExp;
  /** Role of the tensor in the option `roles`. Proposals state the role if names do not show it to the decoder. */
  readonly role?: "boxes" | "scores" | "classIds" | "count" | "objectness";
  /** True: only a tensor of an integer type can be this part. */
  readonly holdsIds?: true;
  /** True: a tensor of an integer type cannot be this part. */
  readonly isFloat?: true;
  /** Storage order. "rows": the channels of a row are adjacent, as in [N,R,K] and [N,h,w,K]. Absent: either order. */
  readonly order?: "rows" | "planes";
  readonly rank?: number;
}

/**
 * Meaning of the row count.
 * - `cells`: one row for each cell of the input; nothing is suppressed
 * - `anchors`: three rows for each cell
 * - `list`: one row for each detection
 * - `queries`: one row for each query of a DETR network, usually a round count
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
  /** Possible anchor counts of a map. The map has the channels of one anchor times this count. */
  readonly anchors?: readonly number[];
  /** Smallest and largest count of feature maps. */
  readonly levels?: readonly [number, number];
  /** True: decoders recognise the parts by their usual names. Proposals state `roles` only for other names. */
  readonly areKnownNames?: true;
  /** True: the form is proposed only if every part has its usual name. */
  readonly isNamed?: true;
  /** True: the form fits only if every output of the network fills a part, or matches `beside`. */
  readonly isWhole?: true;
  /** True: the form fits only if the tensors come in the order of the parts. */
  readonly isInOrder?: true;
  /** Kind of form, for rules of evidence that apply only to this kind. */
  readonly kind?:
    | "queries and nothing"
    | "scores of a picture"
    | "classes of cells"
    | "sums after scores"
    | "cells to stride 64"
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
  /** True if the last score column was never trained. Networks with COCO's 91 id columns are an exception. */
  readonly isLastUntrained?: true;
  /** Count of channels that are not classes, such as the background. */
  readonly others?: number;
  /** Class count if no channel count depends on the classes: 1, or `null` if the shapes leave the count open. */
  readonly classes?: 1 | null;
  /** Returns the keypoints [count, values of one], given the channels and map width of the part `points`. */
  readonly pointsIn?: (channels: number, width: number, classes: number) => readonly [number, 2 | 3];
  /** Returns the class count, given the length and the element type of a buffer. */
  readonly classesIn?: (length: number, type: string | null) => number | null;
  /** Possible row counts of networks of this form. */
  readonly counts?: readonly number[];
  /** Possible keypoints of an object: [count, values of one keypoint]. */
  readonly points?: readonly (readonly [number, 2 | 3])[];
  /** Options that a config for this form needs, besides those that follow from the match. */
  readonly options?: Partial<DecoderOptions>;
  /** True: a more common family has tensors of the same shape. */
  readonly isLookalike?: true;
  /** Estimate of how common the form is. The evidence score starts from this number. Default 0. */
  readonly usual?: number;
  /** Matches the names of outputs that are no parts but may be present. Decoders do not read them. */
  readonly beside?: RegExp;
  /** Output names and shapes of an example network, for a test. */
  readonly example: string;
}
