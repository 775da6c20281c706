import { adviceOnCocoLabels } from "../core/labels.ts";
import type { Decoder } from "./decoder.ts";

/** Returns a note if the classes have no names and there are as many as in COCO. Else returns null. */
export function noteOfMissingNames(decoder: Decoder): string | null {
  const { classes } = decoder.describe().json as { readonly classes?: number | null };
  const advice = adviceOnCocoLabels(decoder.config.labels, classes ?? decoder.config.classes);
  return advice === null ? null : `the network has class ids and no names: ${advice}`;
}
