/** Checks the lengths of lists per class before the shapes of the outputs are known. */
import { hasBackground } from "../core/parsers.ts";
import type { Config } from "./types.ts";

/** True if the length of a list fits one entry per class. The list may include the background or omit it. */
export function mayBePerClass(
  { classes, family, kind, background }: Pick<Config, "classes" | "family" | "kind" | "background">,
  { length }: readonly unknown[],
): boolean {
  const mayName = typeof background === "number" || hasBackground(kind, family);
  return classes === null || Math.abs(length - classes) <= (mayName ? 1 : 0);
}
