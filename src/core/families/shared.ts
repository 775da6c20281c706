/** What rows of several files share. */
import type { FamilyTraits } from "../family.ts";

export const STRETCH = { resize: "stretch" } as const;

/** Returns the traits of a network that decodes its boxes, or whose maps a task reads. Shapes tell the class count. */
export const decoded = (more: Partial<FamilyTraits>): FamilyTraits => ({
  head: "plain",
  exports: [],
  raw: "probabilities",
  classes: "in shapes",
  ...more,
});
