/** The shape of a command, and what it is called with. */
import type { Config } from "../core/config.ts";
import type { Database } from "boxwright-service/database";
import { findTeam, type Team } from "../nouns/team.ts";

/** The actor that the audit names for the command line. */
export const ACTOR = "operator";

export interface Call {
  readonly config: Config;
  readonly db: Database;
  /** Returns the value of an option that must be given. */
  need(name: string): string;
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Tells the operator something beside the result, on standard error. */
  warn(text: string): void;
  /** Words that belong to no option. */
  readonly rest: readonly string[];
}

export interface Command {
  /** Options outside of brackets must be given. */
  readonly usage: string;
  readonly about: string;
  /** Names of options with a value. */
  readonly values?: readonly string[];
  /** Names of options without a value. */
  readonly switches?: readonly string[];
  readonly takesRest?: boolean;
  /** True if the command makes the SQLite file when it is missing, without --create. */
  readonly creates?: boolean;
  /** Returns the result, which is printed as JSON. */
  run(call: Call): Promise<unknown>;
}

export type Commands = Readonly<Record<string, Command>>;

/** The call is wrong: exit code 2. */
export class Usage extends Error {}

/** Returns the address of a one-time link. */
export function linkTo({ baseUrl, port }: Config, token: string): string {
  return `${baseUrl ?? `http://localhost:${port}`}/link/${token}`;
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** Finds the team that `--team` names. */
export function teamOf({ db, need }: Call): Promise<Team> {
  return findTeam(db, need("team"));
}
