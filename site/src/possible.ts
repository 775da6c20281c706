/** Makes options of the readings that shapes allow. */
import type { Possibility } from "@repo/src/node/possibility.ts";

/** Returns the options of a possibility; null if the user has to complete them. */
export function optionsOf({ line }: Possibility): { readonly [name: string]: unknown } | null {
  const object = line.replace(/\}, or .*$/, "}").replace(/([{,]\s*)([A-Za-z]\w*):/g, '$1"$2":');
  try {
    return JSON.parse(object);
  } catch {
    return null;
  }
}

/** Returns the index of the likeliest possibility whose options are complete, -1 if there is none. */
export const firstComplete = (possibilities: readonly Possibility[]): number =>
  possibilities.findIndex((possibility) => optionsOf(possibility) !== null);
