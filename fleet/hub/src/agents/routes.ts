/**
 * Routes of agents. Enrolment and the public document of the hub need no credential. Every other route first checks the
 * credential of the device. A credential opens neither pages nor `/graphql`.
 */
import { Buckets } from "boxwright-service/bucket";
import { authorizationOf } from "boxwright-service/http/caller";
import { judgeDevice } from "../auth/device-credential.ts";
import { readCredentials } from "../auth/teamkey.ts";
import type { Exchange, Sender } from "boxwright-service/http/exchange";
import { admitBody } from "../http/body-room.ts";
import { refuse, refuseLimited, refuseMethod } from "../http/refusals.ts";
import type { Handler, Router } from "boxwright-service/http/router";
import { noteFirstUse, type KnownDevice } from "../nouns/credential.ts";
import { postRotate, postToken } from "./credentials.ts";
import { getAgent, getConfig, getModel, getShadow, postReport } from "./desired-config.ts";
import { postEnrol, postReturn } from "./enrol.ts";
import { postHeartbeat } from "./heartbeat.ts";
import { createHubDocument } from "./hub-document.ts";
import { postLog } from "./sent-log.ts";
import { postSnap, putSnapFile } from "./snaps.ts";
import type { Agents, Methods } from "./visit.ts";

/** Routes for requests with the credential of a device. */
const ROUTES: Readonly<Record<string, Methods>> = {
  "/device/heartbeat": { POST: postHeartbeat },
  "/device/rotate": { POST: postRotate },
  "/device/token": { POST: postToken },
  "/device/config": { GET: getConfig },
  "/device/agent": { GET: getAgent },
  "/device/shadow": { GET: getShadow },
  "/device/report": { POST: postReport },
  "/device/models/:sha256": { GET: getModel },
  "/device/log": { POST: postLog },
  "/device/snaps": { POST: postSnap },
  "/device/snaps/:snap/files/:sha256": { PUT: putSnapFile },
};

/** A request with a refused credential counts as this many more requests of the sender's address. */
export const FAILED_CREDENTIAL_COST = 3;
/** Request limit of one device. A device sends a heartbeat every 30 s, and sometimes the files of a snap. */
export const DEVICE_LIMIT = { rate: 2, burst: 120 };

export function registerAgents(router: Router, agents: Agents): void {
  const devices = new Buckets(DEVICE_LIMIT);
  router.any("/device/enrol", (exchange) => postEnrol(agents, exchange), { forPrograms: true });
  router.any("/device/return", (exchange) => postReturn(agents, exchange), { forPrograms: true });
  router.any("/.well-known/boxwright-hub.json", createHubDocument(agents), { forPrograms: true });
  for (const [path, methods] of Object.entries(ROUTES))
    // Limit each device, not only its address, since a thousand devices may share one address.
    router.any(path, authenticated(agents, devices, methods), { forPrograms: true, unlimited: true });
}

/** Returns a handler that checks the credential and the limits, then calls the handler of the method. */
function authenticated(agents: Agents, devices: Buckets, methods: Methods): Handler {
  const { db, now, metrics, addresses } = agents;
  return async (exchange, params) => {
    const addressWait = addresses.wait(exchange.address, now());
    if (addressWait > 0) return refuseLimited(exchange, metrics, "address", addressWait);
    const device = await authenticate(agents, exchange);
    if (device === undefined) return;
    const wait = devices.take(device.id, now());
    if (wait > 0) return refuseLimited(exchange, metrics, "device", wait);
    const handler = methods[(exchange.method === "HEAD" ? "GET" : exchange.method) as keyof Methods];
    if (handler === undefined) return refuseMethod(exchange, Object.keys(methods).join(", "));
    if (device.credential_used_at === null) await noteFirstUse(db, now(), device);
    if (!admitBody(agents, exchange, device.id)) return;
    return handler(agents, { exchange, device, params });
  };
}

/**
 * Returns the device that sent the request. Answers with a refusal and returns undefined if the credential is wrong.
 */
async function authenticate(agents: Agents, exchange: Exchange): Promise<KnownDevice | undefined> {
  const { db, now, metrics, addresses } = agents;
  const credentials = readCredentials(authorizationOf(exchange.request));
  if (credentials.kind !== "bearer") {
    metrics.deviceChecks.inc({ result: credentials.kind });
    addresses.charge(exchange.address, now(), FAILED_CREDENTIAL_COST);
    refuse(exchange, "invalid_credential", "", challenge);
    return undefined;
  }
  const judged = await judgeDevice(db, credentials.token);
  metrics.deviceChecks.inc({ result: judged.result });
  if (judged.result !== "ok") {
    addresses.charge(exchange.address, now(), FAILED_CREDENTIAL_COST);
    refuse(exchange, "invalid_credential", "", challenge);
    return undefined;
  }
  const { id, credential, team_id } = judged.device;
  Object.assign(exchange.sender, { device: id, credential, team: team_id } satisfies Sender);
  return judged.device;
}

const challenge = { "www-authenticate": 'Bearer realm="hub"' };
