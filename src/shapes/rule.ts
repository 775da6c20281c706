/** Types of the rules of evidence: the question about a network, and a rule that gives points to a match. */
import type { Family } from "../core/family.ts";
import type { Network } from "./none.ts";
import type { Match } from "./solve.ts";

/** The tensors and inputs of a network, and the facts that a file or a caller states about the network. */
export interface Asked extends Network {
  /** Families that occur in the file name, or in a name inside the file. */
  readonly named: readonly Family[];
  readonly classes: number | null;
  /** True if the caller states the class count. Labels in a file may be another network's. */
  readonly isOption: boolean;
  readonly isFamilyStated: boolean;
}

/** One rule of evidence. `points` returns `null` if the match is impossible. */
export interface Rule {
  readonly name: string;
  readonly example: string;
  readonly points: (match: Match, asked: Asked) => number | null;
}
