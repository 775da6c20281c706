/**
 * Reports of devices on their versions: one row for each device and version. The row of a device in `device_states` has
 * its last report too, by which lists filter devices. Both rows are written before the device gets its answer.
 */
import type { Database, Queries } from "boxwright-service/database";
import type { ApplicationState, ConfigReport } from "boxwright-service/schema/protocol";
import { UserError } from "../core/errors.ts";
import type { Purpose } from "./application.ts";
import { stopRollouts } from "./assignment.ts";
import type { KnownDevice } from "./credential.ts";
import { etagOf } from "./desired.ts";

export interface Report {
  readonly device_id: string;
  readonly app_id: string;
  readonly version: number;
  readonly state: "applied" | "failed";
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

const COLUMNS = "device_id, app_id, version, state, code, message, at";
/** Number of reports that are kept of each device. */
const MAX_REPORTS = 20;

/** Returns the reports of a device, the newest first. The first report is the present state of the device. */
export function reportsOf(
  db: Queries,
  teamId: string,
  deviceId: string,
  limit = MAX_REPORTS,
  purpose: Purpose = "network",
): Promise<Report[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM app_reports WHERE team_id = ? AND device_id = ? AND purpose = ? ORDER BY at DESC LIMIT ?`,
    [teamId, deviceId, purpose, limit],
  );
}

export interface ReportCount {
  readonly version: number;
  readonly state: "applied" | "failed";
  readonly count: number;
}

/** Counts the newest reports on an application, by version and state. */
export function countReports(db: Queries, teamId: string, appId: string): Promise<ReportCount[]> {
  return db.all(
    "SELECT r.version AS version, r.state AS state, count(*) AS count FROM app_reports r WHERE r.team_id = ? AND r.app_id = ? " +
      "AND r.at = (SELECT max(o.at) FROM app_reports o WHERE o.team_id = r.team_id AND o.device_id = r.device_id AND o.purpose = r.purpose) GROUP BY r.version, r.state",
    [teamId, appId],
  );
}

/** Returns the newest failure reports on an application. */
export function failuresOf(db: Queries, teamId: string, appId: string, limit = 20): Promise<Report[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM app_reports WHERE team_id = ? AND app_id = ? AND state = 'failed' ORDER BY at DESC LIMIT ?`,
    [teamId, appId, limit],
  );
}

/** Returns an ETag without its quotes and without the prefix of a weak ETag. */
export const plainEtag = (etag: string): string => etag.trim().replace(/^W\//, "").replace(/^"|"$/g, "");

/**
 * Stores a report. A failure counts in the roll-outs of this version to the device's groups and tags, and may stop
 * them.
 * @returns true if the report changes the version that some device should run
 * @throws UserError for a version that the hub never sent
 */
export async function noteReport(
  db: Database,
  now: number,
  teamId: string,
  deviceId: string,
  { version: etag, state, error }: ConfigReport,
): Promise<boolean> {
  return db.write(async (tx) => {
    const version = await versionOf(tx, teamId, plainEtag(etag));
    if (version === undefined)
      throw new UserError(`version: got ${JSON.stringify(etag.slice(0, 128))}, expected one that the hub gave`, 404);
    await tx.all(
      `INSERT INTO app_reports (team_id, ${COLUMNS}, purpose) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ` +
        "ON CONFLICT (team_id, device_id, app_id, version) DO UPDATE SET state = excluded.state, code = excluded.code, message = excluded.message, at = excluded.at",
      [
        ...[teamId, deviceId, version.app_id, version.number, state, error?.code ?? "", error?.message ?? "", now],
        version.purpose,
      ],
    );
    await forgetOld(tx, teamId, deviceId, version.purpose);
    if (version.purpose === "network")
      await keepReported(tx, teamId, deviceId, {
        identifier: version.identifier,
        version: plainEtag(etag),
        state,
        error,
      });
    if (state === "applied") return false;
    const change = { now, actor: `device ${deviceId}`, teamId };
    return stopRollouts(tx, change, { deviceId, appId: version.app_id, version: version.number });
  });
}

type ReportedColumns = Pick<
  KnownDevice,
  "application" | "application_version" | "application_state" | "application_error"
>;

const columnsOf = ({ identifier, version, state, error }: ApplicationState): ReportedColumns => ({
  application: identifier,
  application_version: version,
  application_state: state,
  application_error: error === undefined ? null : JSON.stringify(error),
});

/** Writes the last report of a device on its application to `device_states`. */
async function keepReported(tx: Queries, teamId: string, deviceId: string, reported: ApplicationState): Promise<void> {
  const { application, application_version, application_state, application_error } = columnsOf(reported);
  await tx.all(
    "UPDATE device_states SET application = ?, application_version = ?, application_state = ?, application_error = ? WHERE team_id = ? AND device_id = ?",
    [application, application_version, application_state, application_error, teamId, deviceId],
  );
}

/**
 * Stores the report on the application in a heartbeat, if the report is new. A network may fail long after the device
 * reported the version as applied, and an earlier report may be lost. A version unknown to the hub is stored too, since
 * an agent may run its own config.
 * @param device the device, with its last reported version and state
 * @returns true if the heartbeat changes the version that some device should run
 */
export async function noteHeartbeat(
  db: Database,
  now: number,
  device: Pick<KnownDevice, "team_id" | "id"> & ReportedColumns,
  reported: ApplicationState,
): Promise<boolean> {
  const news = Object.entries(columnsOf(reported)).some(
    ([column, value]) => device[column as keyof ReportedColumns] !== value,
  );
  if (!news) return false;
  const { team_id, id } = device;
  const { version, state, error } = reported;
  const isReport = version !== null && state !== "none" && (await isNewReport(db, team_id, id, version, state));
  if (isReport) return noteReport(db, now, team_id, id, { version, state, error });
  await db.write((tx) => keepReported(tx, team_id, id, reported));
  return false;
}

/** True if the hub sent the version, and the device's last report was about another version, or had another state. */
async function isNewReport(
  db: Queries,
  teamId: string,
  deviceId: string,
  version: string,
  state: "applied" | "failed",
): Promise<boolean> {
  const known = await versionOf(db, teamId, plainEtag(version));
  if (known === undefined) return false;
  const [last] = await reportsOf(db, teamId, deviceId, 1);
  return last?.state !== state || last.app_id !== known.app_id || last.version !== known.number;
}

interface KnownVersion {
  readonly app_id: string;
  readonly number: number;
  readonly identifier: string;
  readonly purpose: Purpose;
}

async function versionOf(tx: Queries, teamId: string, etag: string): Promise<KnownVersion | undefined> {
  const at = etag.lastIndexOf(":");
  const hash = etag.slice(at + 1);
  if (at < 1 || !/^[0-9a-f]{16}$/.test(hash)) return undefined;
  const rows = await tx.all<KnownVersion & { readonly hash: string }>(
    "SELECT v.app_id AS app_id, v.number AS number, p.identifier AS identifier, p.purpose AS purpose, v.hash AS hash FROM apps p JOIN app_versions v ON v.team_id = p.team_id AND v.app_id = p.id " +
      "WHERE p.team_id = ? AND p.identifier = ? AND v.hash >= ? AND v.hash <= ?",
    [teamId, etag.slice(0, at), hash, `${hash}g`],
  );
  return rows.find((row) => etagOf(row.identifier, row.hash) === etag);
}

async function forgetOld(tx: Queries, teamId: string, deviceId: string, purpose: Purpose): Promise<void> {
  await tx.all(
    "DELETE FROM app_reports WHERE team_id = ? AND device_id = ? AND purpose = ? AND at < (SELECT min(k.at) FROM (SELECT at FROM app_reports WHERE team_id = ? AND device_id = ? AND purpose = ? ORDER BY at DESC LIMIT ?) k)",
    [...[teamId, deviceId, purpose], ...[teamId, deviceId, purpose], MAX_REPORTS],
  );
}
