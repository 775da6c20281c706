/** Checks the lengths of lists per class while the class count is unknown. */
import { hasBackground } from "../core/parsers.ts";
import type { Config } from "./types.ts";

/** True if a list has a plausible length for one entry per class. The list may or may not count the background. */
export function mayBePerClass(
  { classes, family, kind, background }: Pick<Config, "classes" | "family" | "kind" | "background">,
  { length }: readonly unknown[],
): boolean {
  const mayName = typeof background === "number" || hasBackground(kind, family);
  return classes === null || Math.abs(length - classes) <= (mayName ? 1 : 0);
}
