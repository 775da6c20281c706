/** Distributes cases over the engines. */
import type { EngineName } from "../../src/core/engine-name.ts";
import { isThorough } from "./effort.ts";
import { engines } from "./engines.ts";

/**
 * Returns the cases that one engine runs. `npm test` gives each engine a third, so that each case runs once: other
 * tests hold the engines to the same bytes. In CI each engine runs all of them.
 */
export const shareOf = <T>(engine: EngineName, cases: readonly T[]): readonly T[] =>
  isThorough ? cases : cases.filter((_, i) => i % engines.length === engines.indexOf(engine));

/** Returns the engines that run the case of an index: one in turns, as in `shareOf`, or all of them in CI. */
export const enginesOf = (index: number): readonly EngineName[] =>
  isThorough ? engines : [engines[index % engines.length]];
