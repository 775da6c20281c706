/**
 * The launcher's state: the kept version, and the version on trial. The file is replaced atomically and flushed, so
 * that a power failure leaves either the old or the new content.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, readIfThere, replaceFile } from "../core/files.ts";

/** An unpacked version. */
export interface Version {
  readonly version: string;
  /** Id of the version's release. */
  readonly id: string;
}

export interface Trial extends Version {
  /** Number of starts so far. */
  readonly tries: number;
  /** True if the earlier version received frames. */
  readonly expectsFrames: boolean;
}

export interface Failure extends Version {
  readonly code: string;
  readonly message: string;
}

export interface LaunchState {
  /** Version that runs if none is on trial; null for the installed version. */
  readonly current: Version | null;
  readonly trial: Trial | null;
  /** The last version that failed its trial. */
  readonly failed: Failure | null;
}

export const NOTHING: LaunchState = { current: null, trial: null, failed: null };

/** Returns the folder that holds a device's versions and the launcher's file. */
export const versionsIn = (state: string): string => join(state, "versions");
export const folderOf = (versions: string, { version }: Version): string => join(versions, version);
export const stateFile = (versions: string): string => join(versions, "launcher.json");
/** Returns the path of the command in a version's folder. */
export const mainOf = (folder: string): string =>
  join(folder, "node_modules", "boxwright-agent", "dist", "cli", "main.js");

/** Reads the state. If the file is missing or damaged, the installed version runs. */
export function readState(versions: string): LaunchState {
  try {
    const json = JSON.parse(readIfThere(stateFile(versions)) ?? "null") as Partial<LaunchState> | null;
    const isThere = (one: Version | null | undefined): boolean =>
      typeof one?.version === "string" && existsSync(mainOf(folderOf(versions, one)));
    return {
      current: isThere(json?.current) ? json!.current! : null,
      trial: isThere(json?.trial) ? json!.trial! : null,
      failed: json?.failed ?? null,
    };
  } catch {
    return NOTHING;
  }
}

export function writeState(versions: string, state: LaunchState): void {
  makeFolder(versions);
  replaceFile(stateFile(versions), `${JSON.stringify(state, null, 2)}\n`);
}
