/** Fills a database from a backup. Access revoked since the backup stays revoked. */
import { UserError } from "../core/errors.ts";
import type { Database, Queries } from "boxwright-service/database";
import { audit, KEPT, type AuditAction } from "../nouns/audit.ts";
import { isLess, type Role } from "../nouns/role.ts";
import { memberKey, readKnown, readTakenAway, type Known, type TakenAway } from "./access.ts";
import { LEFT_OUT, tables, type Row, type Table } from "./format.ts";
import { readBackup, type Line } from "./read.ts";

export interface Restored {
  readonly rows: number;
  /** Time at which the backup was made. */
  readonly taken: number;
  /**
   * True if the database held all audit rows of the backup. The hub then knows all access revoked since the backup,
   * which stays revoked. Otherwise, later revocations may be unknown, and access becomes as in the backup.
   */
  readonly knowsSince: boolean;
  readonly inForce: { readonly users: number; readonly keys: number };
  /** Public ids of keys that stay revoked. */
  readonly stayRevoked: readonly string[];
  readonly stayRemoved: readonly { readonly email: string; readonly team_id?: string }[];
  readonly stayDemoted: readonly { readonly email: string; readonly team_id: string }[];
  /** Emails of people who keep the password of the database, since their password in the backup is older. */
  readonly keptPasswords: readonly string[];
  /** Ids of teams that have no administrator left: all administrators in the backup were removed or demoted since. */
  readonly teamsWithoutAdmin: readonly string[];
  /** SHA-256 of model files that versions name and the hub does not have. */
  readonly missingModels: readonly string[];
}

/**
 * Fills an empty database in one transaction. `replace` deletes the existing rows first. Access that was revoked since
 * the backup stays revoked: keys, removed people, demoted administrators, and old passwords. No audit row is deleted,
 * since the next restore needs the rows too.
 */
export async function restore(db: Database, now: number, file: string, replace: boolean): Promise<Restored> {
  // Read and check the whole file before the first write.
  const { taken, lines } = await readBackup(file);
  return db.write(async (tx) => {
    if (!replace) await checkEmpty(tx);
    const known = await readKnown(tx);
    const models = await tx.all<Row>(`SELECT ${MODEL_COLUMNS} FROM models`);
    await empty(tx);
    const knowsSince = await restoreAudit(tx, lines);
    const filter = new AccessFilter(known, await readTakenAway(tx));
    for (const { table, row } of lines) {
      const kept = table.name === "audit" ? undefined : filter.apply(table, row);
      if (kept !== undefined) await insert(tx, table, kept);
    }
    await audit(
      tx,
      now,
      "operator",
      "backup.restored",
      null,
      `${lines.length} rows of ${new Date(taken).toISOString()}`,
    );
    const missingModels = await restoreModels(tx, models);
    return { rows: lines.length, taken, knowsSince, ...filter.report(), missingModels };
  });
}

async function checkEmpty(tx: Queries): Promise<void> {
  for (const { name } of tables) {
    const [found] = await tx.all<{ count: number }>(`SELECT count(*) AS count FROM ${name}`);
    const count = found?.count ?? 0;
    if (count === 0) continue;
    const message = `got ${count} rows in ${name}, expected an empty database; --replace throws away what is there`;
    throw new UserError(message, 409);
  }
}

const MODEL_COLUMNS = "team_id, sha256, size, name, created_at, complete_at";

/**
 * Restores the rows of the given model files. Returns the hashes of files that a version names and the hub does not
 * have.
 */
async function restoreModels(tx: Queries, models: readonly Row[]): Promise<string[]> {
  const teams = new Set((await tx.all<{ id: string }>("SELECT id FROM teams")).map(({ id }) => id));
  const names = MODEL_COLUMNS.split(", ");
  for (const row of models)
    if (teams.has(String(row["team_id"])))
      await tx.all(
        `INSERT INTO models (${MODEL_COLUMNS}) VALUES (${names.map(() => "?").join(", ")})`,
        names.map((name) => row[name] ?? null),
      );
  // Wake devices that wait for a change, at other hub processes too.
  await tx.all("UPDATE team_changes SET count = count + 1");
  const missing = await tx.all<{ sha256: string }>(
    "SELECT DISTINCT v.model_sha256 AS sha256 FROM app_versions v LEFT JOIN models m ON m.team_id = v.team_id AND m.sha256 = v.model_sha256 WHERE v.model_sha256 IS NOT NULL AND m.complete_at IS NULL ORDER BY sha256",
  );
  return missing.map(({ sha256 }) => sha256);
}

/** Deletes all rows except those of the audit and of snaps. Deletes a row before the rows that it refers to. */
async function empty(tx: Queries): Promise<void> {
  const names = [...LEFT_OUT, "models", ...tables.map(({ name }) => name).reverse()];
  for (const name of names) if (name !== "audit") await tx.all(`DELETE FROM ${name}`);
}

/** Adds the audit rows of the backup. Returns true if the database already had all of these rows. */
async function restoreAudit(tx: Queries, lines: readonly Line[]): Promise<boolean> {
  let known = 0;
  let added = 0;
  for (const { table, row } of lines) {
    if (table.name !== "audit") continue;
    const done = await insert(tx, table, row);
    if (done.length === 0) known++;
    // Count missing rows of kept actions only: old rows of other actions may have been deleted.
    else if (KEPT.includes(row["action"] as AuditAction)) added++;
  }
  return known > 0 && added === 0;
}

/** Inserts a row. Returns an empty list if this audit row exists already, otherwise a list of one element. */
function insert(tx: Queries, { name, columns }: Table, row: Row): Promise<object[]> {
  const marks = columns.map(() => "?").join(", ");
  const conflict = name === "audit" ? " ON CONFLICT DO NOTHING" : "";
  return tx.all(
    `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${marks})${conflict} RETURNING 1 AS done`,
    columns.map((column) => row[column] ?? null),
  );
}

type Report = Omit<Restored, "rows" | "taken" | "knowsSince" | "missingModels">;

/**
 * Decides for each row of a backup whether the row is restored. Rows come in the order of the tables: people before
 * their memberships.
 */
class AccessFilter {
  readonly #known: Known;
  readonly #away: TakenAway;
  readonly #emails = new Map<unknown, string>();
  readonly #removed = new Set<unknown>();
  readonly #devices = new Set<unknown>();
  /** Number of administrators that each team keeps, for teams that had an administrator in the backup. */
  readonly #admins = new Map<string, number>();
  readonly #inForce = { users: 0, keys: 0 };
  readonly #stayRevoked: string[] = [];
  readonly #stayRemoved: { email: string; team_id?: string }[] = [];
  readonly #stayDemoted: { email: string; team_id: string }[] = [];
  readonly #keptPasswords: string[] = [];

  constructor(known: Known, away: TakenAway) {
    this.#known = known;
    this.#away = away;
  }

  /** Returns the row to insert, or undefined if the row is not restored. */
  apply(table: Table, row: Row): Row | undefined {
    if (table.name === "users") return this.#user(row);
    if (table.name === "identities") return this.#removed.has(row["user_id"]) ? undefined : row;
    if (table.name === "members") return this.#member(row);
    if (table.name === "devices") this.#devices.add(row["id"]);
    if (table.name === "device_states") return this.#deviceState(row);
    if (table.name === "api_keys") return this.#key(row);
    return row;
  }

  report(): Report {
    return {
      inForce: this.#inForce,
      stayRevoked: this.#stayRevoked,
      stayRemoved: this.#stayRemoved,
      stayDemoted: this.#stayDemoted,
      keptPasswords: this.#keptPasswords,
      teamsWithoutAdmin: [...this.#admins].filter(([, count]) => count === 0).map(([id]) => id),
    };
  }

  #user(row: Row): Row | undefined {
    const email = String(row["email"]);
    const password = this.#known.passwords.get(email);
    if (password === undefined && this.#away.users.has(email)) {
      this.#stayRemoved.push({ email });
      this.#removed.add(row["id"]);
      return undefined;
    }
    this.#emails.set(row["id"], email);
    this.#inForce.users++;
    if (password === undefined || password === row["password"]) return row;
    this.#keptPasswords.push(email);
    return { ...row, password };
  }

  #member(row: Row): Row | undefined {
    const team_id = String(row["team_id"]);
    const isAdmin = row["role"] === "admin";
    if (isAdmin) this.#admins.set(team_id, this.#admins.get(team_id) ?? 0);
    if (this.#removed.has(row["user_id"])) return undefined;
    const email = this.#emails.get(row["user_id"]) ?? "";
    const key = memberKey(team_id, email);
    const role = this.#known.roles.get(key);
    if (role === undefined && this.#away.members.has(key)) {
      this.#stayRemoved.push({ email, team_id });
      return undefined;
    }
    if (role !== undefined && isLess(role, row["role"] as Role)) {
      this.#stayDemoted.push({ email, team_id });
      return { ...row, role };
    }
    if (isAdmin) this.#admins.set(team_id, this.#admins.get(team_id)! + 1);
    return row;
  }

  /**
   * Returns the row to insert. A device revoked or removed since the backup becomes revoked: its key cannot bring it
   * back.
   */
  #deviceState(row: Row): Row | undefined {
    // Leave the row out if its device was not restored: no later clean-up would delete this row.
    if (!this.#devices.has(row["device_id"])) return undefined;
    return { ...row, revoked_at: row["revoked_at"] ?? this.#away.devices.get(String(row["device_id"])) ?? null };
  }

  #key(row: Row): Row {
    const id = String(row["id"]);
    const revoked_at = row["revoked_at"] ?? this.#known.revoked.get(id) ?? this.#away.keys.get(id) ?? null;
    if (revoked_at === null) this.#inForce.keys++;
    else if (row["revoked_at"] === null) this.#stayRevoked.push(id);
    const ends = [row["expires_at"] as number | null, this.#away.ends.get(id)].filter((end) => end != null);
    return { ...row, revoked_at, expires_at: ends.length === 0 ? null : Math.min(...ends) };
  }
}
