/** POST /device/rotate and /device/token: the next credential, and a short token for hosts. */
import type { RotateAnswer, TokenAnswer } from "boxwright-service/fleet-protocol";
import { noteToken, rotate, tokensGoodFrom } from "../nouns/credential.ts";
import { loadSigner, tokenSeconds } from "../nouns/signing.ts";
import { sendJson } from "./json-body.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

export async function postRotate({ db, now }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const { key } = await rotate(db, now(), device);
  sendJson(exchange, 200, { credential: key } satisfies RotateAnswer);
}

export async function postToken({ db, now, baseUrl }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const time = now();
  const signer = await loadSigner(db, time);
  // Hosts refuse tokens issued before a revocation. Date the token later if the device enrolled again in that second.
  const issuedAt = Math.max(Math.floor(time / 1000), await tokensGoodFrom(db, device.id));
  const expiresAt = issuedAt + tokenSeconds;
  const token = await signer.sign({
    issuer: baseUrl,
    deviceId: device.id,
    deviceName: device.name,
    teamId: device.team_id,
    issuedAt,
    expiresAt,
  });
  await noteToken(db, device, issuedAt);
  const expires_at = new Date(expiresAt * 1000).toISOString();
  sendJson(exchange, 200, { token, expires_at } satisfies TokenAnswer);
}
