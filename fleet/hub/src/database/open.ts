/** Opens the configured database and brings its schema up to date. */
import type { Database } from "boxwright-service/database";
import { openDatabase as open } from "boxwright-service/open-database";
import type { Config } from "../core/config.ts";
import { migrations } from "./migrations.ts";

const MISSING = "run the command in the hub's folder, set HUB_DATABASE_FILE, or add --create to make a new, empty one";

export interface OpenOptions {
  /** True if a missing SQLite file may be created. Most commands must not create a file in a wrong folder. */
  readonly create: boolean;
  readonly onError?: (error: Error) => void;
}

export function openDatabase(
  { databaseUrl, databaseFile, databasePool }: Pick<Config, "databaseUrl" | "databaseFile" | "databasePool">,
  { create, onError }: OpenOptions,
): Promise<Database> {
  return open({
    ...{ service: "hub", steps: migrations, place: databaseUrl ?? databaseFile, poolSize: databasePool, onError },
    missing: create ? undefined : MISSING,
  });
}
