/**
 * Applications of a team: networks, or releases of the agent. Every save makes a new version, and a version never
 * changes.
 */
import type { Database, Queries } from "boxwright-service/database";
import { readRelease, readSigned, type Release, type SignedRelease } from "boxwright-service/release";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { contentHash, type AppContent, type AppDraft } from "./application-content.ts";
import { audit, type Change } from "./audit.ts";
import { findModel } from "./model.ts";
import { checkRoom, noSuch } from "./rows.ts";
import { cleanName } from "./text.ts";

export interface App {
  readonly id: string;
  /** Unique in the team, and part of the ETag of a config. */
  readonly identifier: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly created_at: number;
  /** Time at which the newest version was saved, or the name or tags changed. */
  readonly updated_at: number;
  /** Number of the newest version; 0 if there is none yet. */
  readonly newest: number;
  readonly purpose: Purpose;
}

/** Purpose of an application: its versions configure the network of devices, or their agent. */
export type Purpose = "network" | "agent";
export const PURPOSES: readonly Purpose[] = ["network", "agent"];

export interface AppVersion {
  readonly app_id: string;
  /** Number of the version, counted from 1 in each application. */
  readonly number: number;
  /** SHA-256 of the content, in 64 hexadecimal digits. */
  readonly hash: string;
  readonly content: AppContent;
  /** Text of boxwright's `describe()` when the version was saved. */
  readonly description: string;
  readonly created_at: number;
  readonly created_by: string;
}

const MAX_APPS = 200;
const MAX_VERSIONS = 1000;
const MAX_TAGS = 20;
const IDENTIFIER = /^[a-z0-9][a-z0-9._-]{0,62}$/;

interface AppRow extends Omit<App, "tags"> {
  readonly tags: string;
}
const APP_COLUMNS = "id, identifier, name, tags, created_at, updated_at, newest, purpose";
const toApp = (row: AppRow): App => ({ ...row, tags: JSON.parse(row.tags) as string[] });

interface VersionRow extends Omit<AppVersion, "content"> {
  readonly content: string;
}
const VERSION_COLUMNS = "app_id, number, hash, content, description, created_at, created_by";
const toVersion = (row: VersionRow): AppVersion => ({ ...row, content: JSON.parse(row.content) as AppContent });

/** Returns at most `limit` applications with ids after `after`. */
export async function listApps(db: Queries, teamId: string, after = "", limit = MAX_APPS): Promise<App[]> {
  const rows = await db.all<AppRow>(
    `SELECT ${APP_COLUMNS} FROM apps WHERE team_id = ? AND id > ? ORDER BY id LIMIT ?`,
    [teamId, after, limit],
  );
  return rows.map(toApp);
}

/** Finds an application by its id or its identifier. */
export async function findApp(db: Queries, teamId: string, idOrIdentifier: string): Promise<App | undefined> {
  const [row] = await db.all<AppRow>(
    `SELECT ${APP_COLUMNS} FROM apps WHERE team_id = ? AND (id = ? OR identifier = ?)`,
    [teamId, idOrIdentifier, idOrIdentifier],
  );
  return row === undefined ? undefined : toApp(row);
}

export async function needApp(db: Queries, teamId: string, idOrIdentifier: string): Promise<App> {
  const app = await findApp(db, teamId, idOrIdentifier);
  if (app !== undefined) return app;
  throw noSuch("application", idOrIdentifier);
}

/** Makes an identifier from a name: "Front door (v2)" becomes "front-door-v2". */
export function identifierOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "");
  return plain.slice(0, 63) || "app";
}

function cleanIdentifier(text: string): string {
  if (IDENTIFIER.test(text)) return text;
  throw new UserError(
    `identifier: got ${JSON.stringify(text.slice(0, 80))}, expected 1 to 63 of a-z, 0-9 and . _ -, the first a letter or digit`,
    400,
    "Enter an identifier of small letters, digits, dots, underscores and hyphens.",
  );
}

export function cleanTags(tags: readonly string[]): string[] {
  if (tags.length > MAX_TAGS) throw new UserError(`tags: got ${tags.length}, expected at most ${MAX_TAGS}`);
  return [...new Set(tags.map((tag) => cleanName(tag, "tag")))];
}

export async function createApp(
  db: Database,
  { now, actor, teamId }: Change,
  given: { readonly name: string; readonly identifier?: string | undefined; readonly tags?: readonly string[] } & {
    readonly purpose?: Purpose | undefined;
  },
): Promise<App> {
  const { purpose = "network" } = given;
  const name = cleanName(given.name, "application name");
  const identifier = cleanIdentifier(given.identifier ?? identifierOf(name));
  const tags = cleanTags(given.tags ?? []);
  return db.write(async (tx) => {
    await checkRoom(tx, "apps", teamId, MAX_APPS, "application");
    const id = newId(now);
    const added = await tx.all(
      "INSERT INTO apps (team_id, id, identifier, name, tags, created_at, updated_at, newest, purpose) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING RETURNING id",
      [teamId, id, identifier, name, JSON.stringify(tags), now, now, purpose],
    );
    if (added.length === 0)
      throw new UserError(
        `identifier: got ${JSON.stringify(identifier)} again, expected one that the team does not have yet`,
        409,
        `The team has an application with the identifier ${identifier} already. Choose another name.`,
      );
    await audit(tx, now, actor, "app.created", teamId, identifier);
    return { id, identifier, name, tags, created_at: now, updated_at: now, newest: 0, purpose };
  });
}

/** Changes the name or the tags. The identifier cannot change, since devices identify the application by it. */
export async function updateApp(
  db: Database,
  { now, actor, teamId }: Change,
  appId: string,
  given: { readonly name?: string | undefined; readonly tags?: readonly string[] | undefined },
): Promise<App> {
  return db.write(async (tx) => {
    const app = await needApp(tx, teamId, appId);
    const name = given.name === undefined ? app.name : cleanName(given.name, "application name");
    const tags = given.tags === undefined ? app.tags : cleanTags(given.tags);
    await tx.all("UPDATE apps SET name = ?, tags = ?, updated_at = ? WHERE team_id = ? AND id = ?", [
      name,
      JSON.stringify(tags),
      now,
      teamId,
      app.id,
    ]);
    await audit(tx, now, actor, "app.updated", teamId, app.identifier);
    return { ...app, name, tags, updated_at: now };
  });
}

/** Removes an application. Refuses while an assignment names this application. */
export async function deleteApp(db: Database, { now, actor, teamId }: Change, appId: string): Promise<App> {
  return db.write(async (tx) => {
    const app = await needApp(tx, teamId, appId);
    const [used] = await tx.all<{ count: number }>(
      "SELECT count(*) AS count FROM assignments WHERE team_id = ? AND app_id = ?",
      [teamId, app.id],
    );
    if ((used?.count ?? 0) > 0)
      throw new UserError(
        `application ${app.identifier}: got one that ${used!.count} devices and groups are given, expected one that none is`,
        409,
        "Devices or groups are given this application. Take it from them first.",
      );
    for (const table of ["app_reports", "app_versions"])
      await tx.all(`DELETE FROM ${table} WHERE team_id = ? AND app_id = ?`, [teamId, app.id]);
    await tx.all("DELETE FROM apps WHERE team_id = ? AND id = ?", [teamId, app.id]);
    await audit(tx, now, actor, "app.deleted", teamId, app.identifier);
    return app;
  });
}

/** Returns versions of an application, the newest first. With `before`, only versions with a smaller number. */
export async function listVersions(
  db: Queries,
  teamId: string,
  appId: string,
  { before = Number.MAX_SAFE_INTEGER, limit = 50 }: { readonly before?: number; readonly limit?: number } = {},
): Promise<AppVersion[]> {
  const rows = await db.all<VersionRow>(
    `SELECT ${VERSION_COLUMNS} FROM app_versions WHERE team_id = ? AND app_id = ? AND number < ? ORDER BY number DESC LIMIT ?`,
    [teamId, appId, before, limit],
  );
  return rows.map(toVersion);
}

export async function findVersion(
  db: Queries,
  teamId: string,
  appId: string,
  number: number,
): Promise<AppVersion | undefined> {
  const [row] = await db.all<VersionRow>(
    `SELECT ${VERSION_COLUMNS} FROM app_versions WHERE team_id = ? AND app_id = ? AND number = ?`,
    [teamId, appId, number],
  );
  return row === undefined ? undefined : toVersion(row);
}

export async function needVersion(db: Queries, teamId: string, app: App, number: number): Promise<AppVersion> {
  const version = await findVersion(db, teamId, app.id, number);
  if (version !== undefined) return version;
  const expected = app.newest === 0 ? "one that was saved: there is none yet" : `1 to ${app.newest}`;
  throw new UserError(
    `got version ${number} of ${app.identifier}, expected ${expected}`,
    404,
    `The application has no version ${number}.`,
  );
}

/** Returns the content of a draft. Name and size of the model file come from the hub's row of this file. */
export async function contentOf(db: Queries, teamId: string, draft: AppDraft): Promise<AppContent> {
  const { modelSha256, config, options, snaps } = draft;
  if (modelSha256 === null) return { config, options, model: null, snaps };
  const file = await findModel(db, teamId, modelSha256);
  if (file === undefined || file.complete_at === null)
    throw new UserError(
      `model: got ${modelSha256}, expected a model file that the team has sent`,
      400,
      "The model file is not there yet. Send it first.",
    );
  return { config, options, model: { sha256: file.sha256, size: file.size, name: file.name }, snaps };
}

/**
 * Returns the content of a version of the agent. The hub does not check the signature: devices do.
 * @throws UserError
 */
export async function agentContent(db: Queries, teamId: string, given: unknown): Promise<AppContent> {
  let signed: SignedRelease;
  let release: Release;
  try {
    signed = readSigned(typeof given === "string" ? JSON.parse(given) : given);
    release = readRelease(signed.release);
  } catch (error) {
    throw new UserError((error as Error).message, 400, "Paste what `boxwright-agent release sign` has printed.");
  }
  const { sha256, size, name } = release;
  const file = await findModel(db, teamId, sha256);
  if (file === undefined || file.complete_at === null || file.size !== size)
    throw new UserError(
      `release: got version ${release.version} of the archive ${sha256}, expected an archive that the team has sent to /models`,
      400,
      `The archive ${name} is not there yet. Send it on the page "Model files" first.`,
    );
  return { config: null, options: {}, model: { sha256, size, name: file.name }, snaps: [], release: signed };
}

/** Describes a version of the agent in one line. */
export function describeRelease({ release }: SignedRelease): string {
  const { version, platform, signed_at } = readRelease(release);
  return `agent ${version} for ${platform}, signed ${signed_at}`;
}

/**
 * Returns the release number of a version, such as 1.2.0. Returns undefined if the version is not a release of the
 * agent.
 */
export async function agentVersionOf(
  db: Queries,
  teamId: string,
  appId: string,
  number: number,
): Promise<string | undefined> {
  const signed = (await findVersion(db, teamId, appId, number))?.content.release;
  return signed === undefined ? undefined : readRelease(signed.release).version;
}

export interface SaveVersion {
  readonly content: AppContent;
  readonly description: string;
  /** Number of the newest version that the writer knew. Undefined if the writer did not read this number. */
  readonly expected?: number | undefined;
}

/**
 * Saves a checked version. If an earlier version has the same content, returns that version and saves nothing.
 * @throws UserError 409 if another person saved a version meanwhile
 */
export async function saveVersion(
  db: Database,
  { now, actor, teamId }: Change,
  appId: string,
  { content, description, expected }: SaveVersion,
): Promise<{ version: AppVersion; isNew: boolean }> {
  const hash = contentHash(content);
  return db.write(async (tx) => {
    const app = await needApp(tx, teamId, appId);
    checkPurpose(app, content);
    if (expected !== undefined && expected !== app.newest)
      throw new UserError(
        `version: got a change of version ${expected}, expected one of version ${app.newest}, the newest`,
        409,
        `Somebody saved version ${app.newest} meanwhile. Look at it, and save yours again.`,
      );
    const [same] = await tx.all<VersionRow>(
      `SELECT ${VERSION_COLUMNS} FROM app_versions WHERE team_id = ? AND app_id = ? AND hash = ?`,
      [teamId, app.id, hash],
    );
    if (same !== undefined) return { version: toVersion(same), isNew: false };
    if (app.newest >= MAX_VERSIONS)
      throw new UserError(`got one more version, expected at most ${MAX_VERSIONS} of an application`, 409);
    if (content.model !== null && (await findModel(tx, teamId, content.model.sha256)) === undefined)
      throw new UserError(`model: got ${content.model.sha256}, which was removed meanwhile`, 409);
    const number = app.newest + 1;
    await tx.all(
      "INSERT INTO app_versions (team_id, app_id, number, hash, content, model_sha256, description, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [teamId, app.id, number, hash, JSON.stringify(content), content.model?.sha256 ?? null, description, now, actor],
    );
    await tx.all("UPDATE apps SET newest = ?, updated_at = ? WHERE team_id = ? AND id = ?", [
      number,
      now,
      teamId,
      app.id,
    ]);
    await audit(tx, now, actor, "app.version_saved", teamId, `${app.identifier} ${number}`);
    const version = { app_id: app.id, number, hash, content, description, created_at: now, created_by: actor };
    return { version, isNew: true };
  });
}

function checkPurpose({ identifier, purpose }: App, { release }: AppContent): void {
  if ((release !== undefined) === (purpose === "agent")) return;
  const [got, expected] = release === undefined ? ["a network", "a release"] : ["a release", "a network"];
  throw new UserError(`got ${got} for the application ${identifier}, expected ${expected}: its purpose is ${purpose}`);
}
