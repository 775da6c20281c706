/** Removes the background from the start of the labels, for networks whose class ids do not count the background. */
import { TRAITS } from "../core/families.ts";
import type { Config } from "./types.ts";

/** Names of the background in the first line of label files, in lower case. */
const BACKGROUND = ["???", "background", "__background__"];

/** True if the first label is a name of the background. */
export const beginsWithBackground = (labels: readonly string[]): boolean =>
  labels.length > 0 && BACKGROUND.includes(labels[0].trim().toLowerCase());

export const withoutBackground = (labels: readonly string[]): readonly string[] =>
  labels.slice(beginsWithBackground(labels) ? 1 : 0);

/**
 * Returns the config with one label and one threshold per class id. If class ids do not count the background, removes
 * its label and threshold.
 */
export function alignLabels(config: Config): Config {
  const { family, labels, classes, confidenceThreshold } = config;
  if (!labels || !family || !TRAITS[family].idsLeaveOutBackground || !beginsWithBackground(labels))
    return config;
  const isPerLabel = typeof confidenceThreshold === "object" && confidenceThreshold.length === labels.length;
  return {
    ...config,
    labels: labels.slice(1),
    classes: classes === labels.length ? classes - 1 : classes,
    confidenceThreshold: isPerLabel ? confidenceThreshold.slice(1) : confidenceThreshold,
  };
}
