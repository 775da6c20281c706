/** Types of the rules of evidence: the question about a network, and a rule that scores a match. */
import type { Family } from "../core/family.ts";
import type { TaskName } from "../core/tasks.ts";
import type { Network } from "./none.ts";
import type { Match } from "./solve.ts";

/** The tensors and inputs of a network, and the facts that a file or a caller states about the network. */
export interface Asked extends Network {
  /** Families that occur in tensor names, the file name or a description in the file. */
  readonly named: readonly Family[];
  /** Tasks that occur in the file name or the description. */
  readonly tasks: readonly TaskName[];
  readonly classes: number | null;
  /** True if the class count comes from the caller's options. A file's labels may belong to another network. */
  readonly isOption: boolean;
  readonly isFamilyStated: boolean;
}

/** One rule of evidence. `points` returns the score of a match by this rule, or `null` if the match is impossible. */
export interface Rule {
  readonly name: string;
  readonly example: string;
  readonly points: (match: Match, asked: Asked) => number | null;
}
