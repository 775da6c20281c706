/** Counts the starts of an agent, so that frames of a later start have larger sequences. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Sequences reserved for one start. More frames than this in one start would reuse sequences of the next. */
const FRAMES = 2 ** 32;
const MOST_BOOTS = 2 ** 20;

/** Adds one to the count of starts in the state folder. Returns the first sequence of this start. */
export function nextBoot(state: string): number {
  const path = join(state, "boots");
  let boots = 0;
  try {
    boots = Number(readFileSync(path, "utf8")) || 0;
  } catch {
    // The first start.
  }
  boots = (boots + 1) % MOST_BOOTS;
  writeFileSync(`${path}.new`, String(boots));
  renameSync(`${path}.new`, path);
  return boots * FRAMES;
}
