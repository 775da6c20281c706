/** Values that rows of several families share. */
import type { FamilyTraits } from "../family.ts";

export const STRETCH = { resize: "stretch" } as const;

/** Mean and standard deviation of ImageNet's pictures for each channel, times 255. */
export const IMAGENET_RGB = { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] } as const;
export const IMAGENET_BGR = { mean: [103.53, 116.28, 123.675], std: [57.375, 57.12, 58.395] } as const;

/** Returns the traits of a network that decodes its boxes itself, or whose maps are read by a task. */
export const decoded = (more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "plain",
  exports: [],
  raw: "probabilities",
  classes: "in shapes",
  ...more,
});
