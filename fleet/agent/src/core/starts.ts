/**
 * Counts the starts of an agent, so that the sequence numbers of frames grow from start to start. After 2^20 starts,
 * the count begins again at 0.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "./files.ts";

/**
 * Number of sequence numbers reserved for each start. A camera with more frames would use those of the next start.
 * Hosts count missing frames within each start (host/src/store/frames.ts).
 */
export const SEQUENCES_PER_START = 2 ** 32;
/** Largest number of starts. Sequence numbers then stay below 2^52, so that doubles represent them exactly. */
const MOST_STARTS = 2 ** 20;

/** Adds one to the number of starts in the state folder. Returns the first sequence number of this start. */
export function reserveSequences(state: string): number {
  const path = join(state, "boots");
  let starts = 0;
  try {
    starts = Number(readFileSync(path, "utf8")) || 0;
  } catch {
    // Ignore the missing file: this is the first start.
  }
  starts = (starts + 1) % MOST_STARTS;
  // Flush the count. Otherwise, after a power failure, the next start would reuse sequence numbers of this start.
  replaceFile(path, String(starts));
  return starts * SEQUENCES_PER_START;
}
