/** POST /device/enrol: an adopt key makes a device with a credential. */
import { readEnrolRequest } from "boxwright-service/schema/protocol";
import type { Exchange } from "boxwright-service/http/exchange";
import { refuse, refuseMethod, type RefusalCode } from "../http/refusals.ts";
import type { Services } from "../http/services.ts";
import { enrol } from "../nouns/enrolment.ts";
import { cleanName } from "../nouns/text.ts";
import { readJson } from "./json-body.ts";

/** Requests that a refused adopt key costs its address, beside the request itself. This slows down guessing. */
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
