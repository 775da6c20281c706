/** Labels that begin with the background, for networks whose class ids leave the background out. */
import { TRAITS } from "../core/families.ts";
import type { Config } from "./types.ts";

/** First lines of label files that stand for the background, in small letters. */
const BACKGROUND = ["???", "background", "__background__"];

/** True if a list of labels begins with a name that stands for the background. */
export const beginsWithBackground = (labels: readonly string[]): boolean =>
  labels.length > 0 && BACKGROUND.includes(labels[0].trim().toLowerCase());

/** Returns labels without a first one that stands for the background. */
export const withoutBackground = (labels: readonly string[]): readonly string[] =>
  labels.slice(beginsWithBackground(labels) ? 1 : 0);

/**
 * Returns the config with one label for each class id. TFLite_Detection_PostProcess leaves the background out of its
 * class ids, and the usual label files name it. Lists of thresholds with the same length lose the same entry.
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
