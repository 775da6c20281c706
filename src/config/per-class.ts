/** Lists with an entry for each class, before the shapes have told how many classes there are. */
import { hasBackground } from "../core/parsers.ts";
import type { Config } from "./types.ts";

/**
 * True if a list may have an entry for each class. A network with a background may name it in the list,
 * and where `classes` counts it the list may leave it out.
 */
export function mayBePerClass(
  { classes, family, kind, background }: Pick<Config, "classes" | "family" | "kind" | "background">,
  { length }: readonly unknown[],
): boolean {
  const mayName = typeof background === "number" || hasBackground(kind, family);
  return classes === null || Math.abs(length - classes) <= (mayName ? 1 : 0);
}
