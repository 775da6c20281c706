/**
 * GET /device/config: the version that the device should run. With `Prefer: wait`, the hub answers once the version
 * changes. POST /device/report: the device reports whether it can use the version. GET /device/models/{sha256}: the
 * model file.
 */
import type { Queries } from "boxwright-service/database";
import { readReport, type DesiredConfig } from "boxwright-service/schema/protocol";
import type { DesiredShadow } from "boxwright-service/schema/shadow";
import type { DesiredAgent } from "boxwright-service/release";
import { type Exchange, JSON_TYPE } from "boxwright-service/http/exchange";
import { sendFile } from "../http/range.ts";
import { refuse } from "../http/refusals.ts";
import { isSha256 } from "../files/files.ts";
import { findApp, findVersion } from "../nouns/application.ts";
import type { DesiredVersion } from "../nouns/desired.ts";
import { lookUpCredential } from "../nouns/credential.ts";
import { findModel, isModelNamed } from "../nouns/model.ts";
import { noteReport, plainEtag } from "../nouns/report.ts";
import { UserError } from "../core/errors.ts";
import { readJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

/** Largest number of seconds that an answer waits. Proxies often close a connection that is silent for a minute. */
const MAX_WAIT_SECONDS = 50;

export async function getConfig(agents: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const { desired } = agents;
  const held = exchange.header("if-none-match");
  const etag = held === undefined ? null : plainEtag(held);
  const seconds = readWait(exchange.header("prefer"));
  const before = await desired.version(device.team_id, device.id);
  let version = before;
  if (seconds > 0 && (before?.etag ?? null) === etag) {
    const onHangUp = (work: () => void): void => exchange.afterAnswer(work);
    version = await desired.waitForOther(device.team_id, device.id, etag, { milliseconds: seconds * 1000, onHangUp });
  }
  const applied = seconds > 0 ? { "preference-applied": `wait=${seconds}` } : {};
  const answer = (): Promise<void> => answerConfig(agents, exchange, device.team_id, { version, etag, applied });
  if (version?.etag === before?.etag) return answer();
  return agents.answers.run(async () => {
    // Check the credential again: a person may have revoked the credential during the wait.
    const isKnown = (await lookUpCredential(agents.db, device.credential)) !== undefined;
    return isKnown ? answer() : refuse(exchange, "invalid_credential");
  });
}

async function answerConfig(
  { db, configs }: Agents,
  exchange: Exchange,
  teamId: string,
  answer: { version: DesiredVersion | undefined; etag: string | null; applied: Record<string, string> },
): Promise<void> {
  const { version, etag, applied } = answer;
  if (version === undefined) return exchange.sendNothing(applied);
  const headers = { ...applied, etag: `"${version.etag}"`, "cache-control": "private, no-cache" };
  if (version.etag === etag) return exchange.send(304, JSON_TYPE, "", headers);
  const { appId, number } = version;
  const body = await configs.get(`${appId} ${number}`, async () => {
    const found = await readConfig(db, teamId, appId, number);
    return found && JSON.stringify(found);
  });
  // Send no content: the application was removed after the look-up of its version.
  if (body === undefined) return exchange.sendNothing(applied);
  exchange.send(200, JSON_TYPE, body, headers);
}

/** Returns a version as devices get it, or undefined if the version no longer exists. */
async function readConfig(
  db: Queries,
  teamId: string,
  appId: string,
  number: number,
): Promise<DesiredConfig | undefined> {
  const app = await findApp(db, teamId, appId);
  const found = await findVersion(db, teamId, appId, number);
  if (app === undefined || found === undefined) return undefined;
  const { config, options, model, snaps } = found.content;
  return {
    application: { identifier: app.identifier, name: app.name, version: found.number, hash: found.hash },
    ...{ config, options, model, snaps },
  };
}

/** Answers with the version that the device decodes in shadow, or 204 if the device has no shadow task. */
export async function getShadow({ db, desired }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const task = await desired.shadow(device.team_id, device.id);
  const version = task && (await readConfig(db, device.team_id, task.version.appId, task.number));
  if (task === undefined || version === undefined) return exchange.sendNothing();
  const { rolloutId: rollout, etag, shadow } = task;
  const { every, snaps } = shadow;
  const body = { rollout, etag, against: task.version.etag, every, snaps, version } satisfies DesiredShadow;
  exchange.sendJson(200, body);
}

/**
 * Returns the seconds that `Prefer: wait=N` asks for (RFC 7240), at most MAX_WAIT_SECONDS. Returns 0 without the
 * header.
 */
function readWait(prefer: string | undefined): number {
  const [, seconds = "0"] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?(?:$|[,;\s])/i.exec(prefer ?? "") ?? [];
  return Math.min(Number(seconds), MAX_WAIT_SECONDS);
}

/** Answers with the signed release that the device should run, or 204 if none is assigned. */
export async function getAgent({ db, desired }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const version = await desired.agent(device.team_id, device.id);
  const found = version && (await findVersion(db, device.team_id, version.appId, version.number));
  if (version === undefined || found?.content.release === undefined) return exchange.sendNothing();
  exchange.sendJson(200, { signed: found.content.release, etag: version.etag } satisfies DesiredAgent);
}

export async function postReport({ db, now, desired }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const report = await readJson(exchange, (body) => {
    const given = body as { version?: unknown } | null;
    const version = typeof given?.version === "string" ? plainEtag(given.version) : given?.version;
    return readReport(given === null ? given : { ...given, version });
  });
  if (report === undefined) return;
  try {
    if (await noteReport(db, now(), device.team_id, device.id, report)) desired.wake(device.team_id);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return refuse(exchange, "invalid_device_body", `: ${error.message}`);
  }
  exchange.sendNothing();
}

export async function getModel({ db, files }: Agents, { exchange, device, params }: DeviceVisit): Promise<void> {
  const sha256 = params["sha256"] ?? "";
  const file = isSha256(sha256) ? await findModel(db, device.team_id, sha256) : undefined;
  const place = { team: device.team_id, kind: "models", sha256 } as const;
  if (file === undefined || file.complete_at === null || (await files.size(place)) === undefined) {
    // A version names the file, but the file's bytes are missing, for instance after a restore. Let devices wait until
    // somebody uploads the file again, so that the devices do not reject the version.
    if (isSha256(sha256) && (await isModelNamed(db, device.team_id, sha256)))
      return refuse(exchange, "model_missing", "", { "retry-after": "30" });
    return refuse(exchange, "not_found", ", expected a model file of the team");
  }
  const read = (start: number, end: number) => files.read(place, start, end);
  await sendFile(exchange, { size: file.size, type: "application/octet-stream", etag: sha256, read });
}
