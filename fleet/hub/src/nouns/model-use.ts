/**
 * Finds the uses of a team's model files: applications that name a file, and devices that should run a version with the
 * file.
 */
import type { Queries } from "boxwright-service/database";
import { PURPOSES } from "./application.ts";
import type { AppContent } from "./application-content.ts";
import { resolveDesired } from "./desired.ts";
import { countSnapBytes } from "./snap-quota.ts";

export interface ModelUser {
  readonly id: string;
  readonly identifier: string;
  readonly name: string;
  /** Numbers of the application's versions that name the file, the newest first. */
  readonly versions: readonly number[];
}

export interface ModelUse {
  /** Applications with versions that name the file, ordered by name. */
  readonly apps: readonly ModelUser[];
  /** Number of devices that should run a version that names the file. */
  readonly devices: number;
}

const NOBODY: ModelUse = { apps: [], devices: 0 };

/** Uses of the model files of a team. */
export interface ModelUses {
  of(sha256: string): ModelUse;
  /** Hashes of all files that versions name, including files that the hub does not have. */
  readonly named: readonly string[];
}

type UserRow = Omit<ModelUser, "versions"> & { readonly sha256: string; readonly number: number };

export async function readModelUse(db: Queries, teamId: string): Promise<ModelUses> {
  const named = await db.all<UserRow>(
    "SELECT v.model_sha256 AS sha256, p.id AS id, p.identifier AS identifier, p.name AS name, v.number AS number FROM app_versions v JOIN apps p ON p.team_id = v.team_id AND p.id = v.app_id " +
      "WHERE v.team_id = ? AND v.model_sha256 IS NOT NULL ORDER BY p.name, p.id, v.number DESC",
    [teamId],
  );
  const given = await db.all<{ sha256: string; app_id: string; number: number }>(
    "SELECT DISTINCT v.model_sha256 AS sha256, v.app_id AS app_id, v.number AS number FROM assignments a JOIN app_versions v ON v.team_id = a.team_id AND v.app_id = a.app_id AND (v.number = a.version OR v.number = a.next_version) " +
      "WHERE a.team_id = ? AND v.model_sha256 IS NOT NULL",
    [teamId],
  );
  const modelOf = new Map(given.map(({ app_id, number, sha256 }) => [`${app_id} ${number}`, sha256]));
  const devices = new Map<string, number>();
  if (given.length > 0)
    for (const purpose of PURPOSES)
      for (const { appId, number } of (await resolveDesired(db, teamId, { purpose })).values()) {
        const sha256 = modelOf.get(`${appId} ${number}`);
        if (sha256 !== undefined) devices.set(sha256, (devices.get(sha256) ?? 0) + 1);
      }
  type User = ModelUser & { readonly versions: number[] };
  const users = new Map<string, Map<string, User>>();
  for (const { sha256, number, ...app } of named) {
    const apps = users.get(sha256) ?? new Map<string, User>();
    const user = apps.get(app.id) ?? { ...app, versions: [] };
    user.versions.push(number);
    users.set(sha256, apps.set(app.id, user));
  }
  const uses = new Map<string, ModelUse>();
  for (const [sha256, apps] of users) uses.set(sha256, { apps: [...apps.values()], devices: devices.get(sha256) ?? 0 });
  return { of: (sha256) => uses.get(sha256) ?? NOBODY, named: [...uses.keys()] };
}

/** Returns name and size of a file, from the newest version that names the file. Returns null if no version does. */
export async function describeModel(db: Queries, teamId: string, sha256: string): Promise<AppContent["model"]> {
  const [row] = await db.all<{ content: string }>(
    "SELECT content FROM app_versions WHERE team_id = ? AND model_sha256 = ? ORDER BY created_at DESC LIMIT 1",
    [teamId, sha256],
  );
  return row === undefined ? null : (JSON.parse(row.content) as AppContent).model;
}

/** Bytes of a team's files. */
export interface Storage {
  /** Bytes of model files, including the reserved bytes of unfinished files. */
  readonly modelBytes: number;
  readonly snapBytes: number;
}

export async function readStorage(db: Queries, teamId: string): Promise<Storage> {
  const sql = "SELECT CAST(sum(size) AS BIGINT) AS bytes FROM models WHERE team_id = ?";
  const [models] = await db.all<{ bytes: number | null }>(sql, [teamId]);
  return { modelBytes: models?.bytes ?? 0, snapBytes: await countSnapBytes(db, teamId) };
}
