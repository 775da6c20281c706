/**
 * The types behind the table of forms. A form is a set of tensors that a network outputs. Its channel counts may
 * contain unknowns, such as the class count.
 */
import type { DecoderOptions } from "../config/types.ts";
import type { Family } from "../core/family.ts";
import type { TaskName } from "../core/tasks.ts";
import type { ViewKind } from "./views.ts";

/**
 * A count that the shape has to tell.
 * - `C`: classes
 * - `P`: values of all keypoints of an object
 * - `M`: coefficients of a mask
 * - `X`, `Y`: any counts
 */
export type Unknown = "C" | "P" | "M" | "X" | "Y";

/** One tensor of a form, or one for each level of the network. */
export interface PartRow {
  readonly see: ViewKind;
  /** Terms of the channel count, which is their sum. Empty: one value. */
  readonly channels: readonly (number | Unknown)[];
  /** True: one tensor for each feature map. */
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
  /** Families with this form, the most common first. */
  readonly families: readonly Family[];
  readonly task?: TaskName;
  readonly parts: { readonly [part: string]: PartRow };
  readonly rows: RowCount;
  /** Possible counts of anchors of a map, by which its channels are multiplied. */
  readonly anchors?: readonly number[];
  /** Smallest and largest count of feature maps. */
  readonly levels?: readonly [number, number];
  /** True: decoders know the parts' usual names, so the option `roles` is needed for other names only. */
  readonly areKnownNames?: true;
  /** True: proposed only if every part has its usual name. */
  readonly isNamed?: true;
  /** True: no other tensor may exist. */
  readonly isWhole?: true;
  /** True: the tensors come in the order of the parts, which decides if names do not. */
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
  /** Count of channels that are no classes: a background, or "nothing". */
  readonly others?: number;
  /** Class count of every such network, if no channel shows it. */
  readonly classes?: 1 | null;
  /** Returns the keypoints of an object from the channels of the part `points` and the width of its map. */
  readonly pointsIn?: (channels: number, width: number, classes: number) => readonly [number, 2 | 3];
  /** Returns the count of classes from the length of a buffer and its element type. */
  readonly classesIn?: (length: number, type: string | null) => number | null;
  /** Counts of rows that networks of the form have. */
  readonly counts?: readonly number[];
  /** Possible keypoints: [count, values]. */
  readonly points?: readonly (readonly [number, 2 | 3])[];
  /** Options that the form needs in addition. */
  readonly options?: Partial<DecoderOptions>;
  /** True: a more common family has tensors of the same shape. */
  readonly isLookalike?: true;
  /** Points for how common the form is, by knowledge of the field. */
  readonly usual?: number;
  /** Matches the names of tensors that may exist besides and are not read. */
  readonly beside?: RegExp;
  /** Example of such a network's shapes, which is also its test. */
  readonly example: string;
}
