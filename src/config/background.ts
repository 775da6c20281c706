/** Removes the background from the start of the labels, for networks that do not count it as a class. */
import { TRAITS } from "../core/families.ts";
import type { Config } from "./types.ts";

/** Lines that stand for the background at the start of label files, in small letters. */
const BACKGROUND = ["???", "background", "__background__"];

/** True if a list of labels begins with a name that stands for the background. */
export const beginsWithBackground = (labels: readonly string[]): boolean =>
  labels.length > 0 && BACKGROUND.includes(labels[0].trim().toLowerCase());

export const withoutBackground = (labels: readonly string[]): readonly string[] =>
  labels.slice(beginsWithBackground(labels) ? 1 : 0);

/** Returns the config with one label and threshold per class id, without a background that ids leave out. */
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
