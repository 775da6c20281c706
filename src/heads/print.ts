/** Texts about heads, and about the reasons for choices. Errors, `describe` and the command line use them. */
import type { FamilyReason } from "../core/family-names.ts";
import type { Family } from "../core/family.ts";
import { shape } from "../core/tensor.ts";
import type { HeadOrigin, HeadTensor } from "./head.ts";

/** Returns "boxes [1,64,80,80] as NCHW". */
const tensorText = (tensor: HeadTensor): string => `${shape(tensor)} as ${tensor.layout}`;

/** Returns "output0 [1,255,13,13] as NCHW, anchor 0 (81 x 82 px)". */
export function originText({ tensors, anchor, rows }: HeadOrigin): string {
  return [
    tensors.map(tensorText).join(" + "),
    ...(anchor ? [`anchor ${anchor.index} (${anchor.size.join(" x ")} ${anchor.unit})`] : []),
    ...(rows ? [`cells ${rows.first}..${rows.first + rows.count - 1} at stride ${rows.stride}`] : []),
  ].join(", ");
}

/** Returns the reason for the choice of a family, for instance `subtype "yolov8"`. */
export function familyReason({ kind, value }: FamilyReason): string {
  switch (kind) {
    case "option":
      return "option family";
    case "model file":
      return `the file, by its exporter ${value}`;
    case "file":
      return `family ${value}`;
    case "subtype with anchors":
      return `subtype "${value}" with anchors`;
    case "exporter":
      return `only tools.luxonis.com names a file like "${value}"`;
    case "no anchors":
      return "empty anchors mean left-top-right-bottom distances";
    case "default":
      return "nothing in the file says otherwise; the option `family` does";
    default:
      return `${kind} "${value}"`;
  }
}

/** Reason why scores are read as probabilities or as logits. */
export type ScoresReason =
  | { readonly kind: "option" }
  /** Default of the family's reading. */
  | { readonly kind: "family"; readonly value: Family; readonly reading: string }
  /** Default of a format of config files. */
  | { readonly kind: "format"; readonly value: string };

/** Returns the reason as text, for instance "default of nn-archive files". */
export function scoresReason(why: ScoresReason): string {
  if (why.kind === "option") return "option scores";
  return `default of ${why.kind === "family" ? `${why.value} ${why.reading}` : `${why.value} files`}`;
}
