/** Types of a command and of its arguments. */
import type { Config } from "../core/config.ts";
import type { Database } from "boxwright-service/database";
import type { FlagKind } from "boxwright-service/flags";
import type { Change } from "../nouns/audit.ts";
import { findTeam, type Team } from "../nouns/team.ts";

/** Actor of the command line in the audit. */
export const ACTOR = "operator";

export interface Call {
  readonly config: Config;
  readonly db: Database;
  /** Returns the value of a required option. */
  need(name: string): string;
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Prints a text for the operator on standard error, beside the result. */
  warn(text: string): void;
  /** Arguments that belong to no option. */
  readonly rest: readonly string[];
}

export interface Command {
  /**
   * Arguments, as the usage line shows them: "--team TEAM [--limit N] FILE". Options without brackets are required. An
   * option without a word behind it is a switch. Default: none.
   */
  readonly args?: string;
  readonly about: string;
  /** True if the command creates a missing SQLite file even without --create. */
  readonly creates?: boolean;
  /** Throws for a wrong argument, before the database is opened or made. */
  check?(call: Pick<Call, "need" | "get">): void;
  /** Returns the result, which is printed as JSON. */
  run(call: Call): Promise<unknown>;
}

export type Commands = Readonly<Record<string, Command>>;

/** Returns the flags that the arguments of a usage line name, by kind. `rest` is true if a word belongs to no flag. */
export function flagsIn(args: string): { readonly flags: Record<string, FlagKind>; readonly rest: boolean } {
  const flags: Record<string, FlagKind> = {};
  const others = args.replace(/[[\]]/g, " ").replace(/--([a-z-]+)( [^\s-]\S*)?/g, (_, name: string, value?: string) => {
    flags[name] = value === undefined ? "switch" : "text";
    return "";
  });
  return { flags, rest: others.trim() !== "" };
}

/** Error of a wrong call: exit code 2. */
export class Usage extends Error {}

/** Returns the address of a one-time link. */
export function linkTo({ baseUrl, port }: Config, token: string): string {
  return `${baseUrl ?? `http://localhost:${port}`}/link/${token}`;
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** Returns the parts of a change of the team that `--team` names. */
export async function changeOf(call: Call): Promise<Change> {
  return { now: Date.now(), actor: ACTOR, teamId: (await teamOf(call)).id };
}

/** Finds the team that `--team` names. */
export function teamOf({ db, need }: Call): Promise<Team> {
  return findTeam(db, need("team"));
}
