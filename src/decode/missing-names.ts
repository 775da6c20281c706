import { adviceOnCocoLabels } from "../core/labels.ts";
import type { Decoder } from "./decoder.ts";

/** Returns the note if classes have no names and their count is COCO's. Else returns null. */
export function noteOfMissingNames(decoder: Decoder): string | null {
  const { classes } = decoder.describe().json as { readonly classes?: number | null };
  const advice = adviceOnCocoLabels(decoder.config.labels, classes ?? decoder.config.classes);
  return advice === null ? null : `the network has class ids and no names: ${advice}`;
}
