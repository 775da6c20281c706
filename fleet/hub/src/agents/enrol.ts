/** POST /device/enrol: a device sends an adopt key, and gets an id and a credential. */
import {
  readEnrolRequest,
  readReturnRequest,
  type ReturnChallenge,
  type RotateAnswer,
} from "boxwright-service/schema/protocol";
import type { Exchange } from "boxwright-service/http/exchange";
import { refuse, refuseMethod, type RefusalCode } from "../http/refusals.ts";
import type { Services } from "../http/services.ts";
import { challengeOf, takeBack } from "../nouns/device-return.ts";
import { enrol } from "../nouns/enrolment.ts";
import { cleanName } from "../nouns/text.ts";
import { readJson } from "./json-body.ts";

/**
 * POST /device/return: a device of a restored hub asks for a challenge, then sends the signed challenge. All refusals
 * have the same answer, so that nobody learns which ids exist.
 */
export async function postReturn({ db, now, metrics }: Services, exchange: Exchange): Promise<void> {
  if (exchange.method !== "POST") return refuseMethod(exchange, "POST");
  const request = await readJson(exchange, readReturnRequest);
  if (request === undefined) return;
  const { device_id: deviceId, signature } = request;
  if (signature === undefined) {
    const challenge = await challengeOf(db, now(), deviceId);
    if (challenge === undefined) return refuse(exchange, "not_returning");
    return exchange.sendJson(200, { challenge } satisfies ReturnChallenge);
  }
  const credential = await takeBack(db, now(), { deviceId, signature });
  metrics.deviceChecks.inc({ result: credential === undefined ? "unknown" : "enrolled" });
  if (credential === undefined) return refuse(exchange, "not_returning");
  exchange.sendJson(200, { credential } satisfies RotateAnswer);
}

/** A refused adopt key counts as this many more requests of the sender's address, which slows down guessing. */
const FAILED_ADOPT_KEY_COST = 20;

export async function postEnrol(services: Services, exchange: Exchange): Promise<void> {
  const { db, now, config, addresses, metrics } = services;
  if (exchange.method !== "POST") return refuseMethod(exchange, "POST");
  const request = await readJson(exchange, (body) => {
    const read = readEnrolRequest(body);
    return { ...read, name: cleanName(read.name, "name") };
  });
  if (request === undefined) return;
  const done = await enrol(db, now(), request, config.maxDevices);
  metrics.deviceChecks.inc({ result: done.kind });
  if (done.kind === "enrolled") return exchange.sendJson(201, done.answer);
  if (done.kind !== "conflict") addresses.charge(exchange.address, now(), FAILED_ADOPT_KEY_COST);
  const [code, detail] = refusalOf(done);
  refuse(exchange, code, detail);
}

function refusalOf(done: { kind: string; why?: string }): [RefusalCode, string] {
  if (done.kind === "spent") return ["adopt_key_spent", ` (it is ${done.why})`];
  return done.kind === "conflict" ? ["device_conflict", `: ${done.why}`] : ["invalid_adopt_key", ""];
}
