/** Opens the configured database and brings its schema up to date. */
import type { Database } from "boxwright-service/database";
import { openDatabase as open } from "boxwright-service/open-database";
import type { Config } from "../core/config.ts";
import { migrations } from "./migrations.ts";

export const openDatabase = (
  { database, databasePool }: Pick<Config, "database" | "databasePool">,
  onError?: (error: Error) => void,
): Promise<Database> =>
  open({
    ...{ service: "host", steps: migrations },
    ...{ place: database, poolSize: databasePool, isolation: "READ COMMITTED", patience: 30_000, onError },
  });
