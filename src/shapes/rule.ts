/** The language of the rules of evidence: what is asked, and what a rule says of a match. */
import type { Family } from "../core/family.ts";
import type { Network } from "./none.ts";
import type { Match } from "./solve.ts";

/** The tensors and inputs, and what a file or a caller says besides. */
export interface Asked extends Network {
  /** Families that names in the file or of the file mean. */
  readonly named: readonly Family[];
  readonly classes: number | null;
  /** True if the caller states the count of classes. Names in a file may belong to another network. */
  readonly isOption: boolean;
  /** True if the caller states the family. */
  readonly isFamilyStated: boolean;
}

/** One rule of evidence. */
export interface Rule {
  readonly name: string;
  readonly example: string;
  readonly points: (match: Match, asked: Asked) => number | null;
}
