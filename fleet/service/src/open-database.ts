/** Opens a database and brings its schema up to date. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Database } from "./database.ts";
import { UnavailableError, UserError, messageOf } from "./errors.ts";
import { migrate, type MigrateOptions } from "./migrate.ts";
import { Postgres, type PostgresOptions } from "./postgres.ts";
import { Sqlite } from "./sqlite.ts";

export interface OpenOptions extends MigrateOptions, Omit<PostgresOptions, "onError"> {
  /** Address of a PostgreSQL database, or path of a SQLite file. */
  readonly place: string;
  /** Advice to the operator if the SQLite file is missing; undefined to create the file. */
  readonly missing?: string | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { place, missing, onError = () => undefined } = options;
  const isAddress = /^postgres(ql)?:\/\//.test(place);
  if (!isAddress && missing !== undefined && !existsSync(place))
    throw new UserError(`got no database file at ${resolve(place)}, expected one; ${missing}`);
  const db = isAddress ? new Postgres(place, { ...options, onError }) : new Sqlite(place, { ...options, onError });
  try {
    await migrate(db, options);
    return db;
  } catch (error) {
    await db.close();
    throw isAddress && error instanceof UnavailableError ? atStart(error) : error;
  }
}

/** Returns the error with its reason and advice, for the operator who starts the service. */
const atStart = ({ message, cause }: UnavailableError): UnavailableError =>
  new UnavailableError(
    `${message}${cause === undefined ? "" : ` (${messageOf(cause)})`}; expected PostgreSQL at the address of the setting`,
  );
