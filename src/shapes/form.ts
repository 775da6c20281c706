/** The language of the table of forms: which tensors a network gives, with channel counts over unknowns. */
import type { DecoderOptions } from "../config/types.ts";
import type { Family } from "../core/family.ts";
import type { TaskName } from "../core/tasks.ts";
import type { ViewKind } from "./views.ts";

/**
 * A count of channels that a shape has to tell.
 * - `C`: classes
 * - `P`: values of all keypoints of an object
 * - `M`: coefficients of a mask
 * - `X`, `Y`: any counts
 */
export type Unknown = "C" | "P" | "M" | "X" | "Y";

/** One tensor of a form, or one for each level of the network. */
export interface PartRow {
  readonly see: ViewKind;
  /** Terms of the channel count: their sum is what a tensor has. Empty: one value. */
  readonly channels: readonly (number | Unknown)[];
  /** One tensor for each feature map. */
  readonly perLevel?: true;
  /** True if the part has a row count of its own, such as prototypes and counts. */
  readonly apart?: true;
  readonly isOptional?: true;
  /** Usual names of the tensor. */
  readonly name?: RegExp;
  /** Option `roles` of the tensor, stated if names do not tell the decoder. */
  readonly role?: "boxes" | "scores" | "classIds" | "count" | "objectness";
  /** The values are whole numbers by their type, which tells the part. */
  readonly holdsIds?: true;
  /** The values are no whole numbers by their type. */
  readonly isFloat?: true;
  /** Channels side by side: [N,R,K], [N,h,w,K]. Absent: either order. */
  readonly order?: "rows" | "planes";
  readonly rank?: number;
}

/**
 * How many rows there are.
 * - `cells`: one for each cell of the input; nothing is suppressed
 * - `anchors`: three for each cell
 * - `list`: what the network found
 * - `queries`: a round count, the same for every picture
 * - `priors`: one for each prior of a published network
 * - `any`: the form does not tell
 */
export type RowCount = "cells" | "anchors" | "list" | "queries" | "priors" | "any";

/** One form of output tensors. */
export interface FormRow {
  /** Families that have the form, the usual one first. */
  readonly families: readonly Family[];
  readonly task?: TaskName;
  readonly parts: { readonly [part: string]: PartRow };
  readonly rows: RowCount;
  /** Anchors of a map, whose channels are repeated so often. */
  readonly anchors?: readonly number[];
  /** Fewest and most feature maps. */
  readonly levels?: readonly [number, number];
  /** A decoder knows the usual names of the parts: the option `roles` names others only. */
  readonly areKnownNames?: true;
  /** A reading of this form is offered only if every part has its usual name. */
  readonly isNamed?: true;
  /** No tensor may stand beside. */
  readonly isWhole?: true;
  /** The tensors stand in the order of the parts, which tells them apart where names do not. */
  readonly isInOrder?: true;
  /** Facts that only the rules of evidence about this kind of form ask for. */
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
  /** Rows for each cell of a level. Absent: one. */
  readonly perCell?: number;
  /** The last column of scores was trained for no class, unless there is one for each of COCO's ids. */
  readonly isLastUntrained?: true;
  /** Classes that the count of channels leaves out: a background, "nothing". */
  readonly others?: number;
  /** Class count of every network, where no channel tells. */
  readonly classes?: 1 | null;
  /** Returns the keypoints of an object from the channels of the part `points` and the width of its map. */
  readonly pointsIn?: (channels: number, width: number, classes: number) => readonly [number, 2 | 3];
  /** Returns the count of classes from the length of a buffer and its element type. */
  readonly classesIn?: (length: number, type: string | null) => number | null;
  /** Counts of rows that networks of the form have. */
  readonly counts?: readonly number[];
  /** Values of keypoints that the form has: [count, values]. */
  readonly points?: readonly (readonly [number, 2 | 3])[];
  /** Options that the form needs besides. */
  readonly options?: Partial<DecoderOptions>;
  /** The form is one of another, more usual family, whose tensors look the same. */
  readonly isLookalike?: true;
  /** Points for what only people who know the field can tell: how usual the form is. */
  readonly usual?: number;
  /** Other tensors that may stand beside, and are not read. */
  readonly beside?: RegExp;
  /** Shapes of a network of this form, as an example and for its test. */
  readonly example: string;
}
