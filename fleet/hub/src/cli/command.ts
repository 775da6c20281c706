/** Types of a command and of its arguments. */
import type { Config } from "../core/config.ts";
import type { Database } from "boxwright-service/database";
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
  /** Usage line. Options without brackets are required. */
  readonly usage: string;
  readonly about: string;
  /** Names of options with a value. */
  readonly values?: readonly string[];
  /** Names of options without a value. */
  readonly switches?: readonly string[];
  readonly takesRest?: boolean;
  /** True if the command creates a missing SQLite file even without --create. */
  readonly creates?: boolean;
  /** Returns the result, which is printed as JSON. */
  run(call: Call): Promise<unknown>;
}

export type Commands = Readonly<Record<string, Command>>;

/** Error of a wrong call: exit code 2. */
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
