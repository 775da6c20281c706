/** POST /device/rotate returns the next credential of a device. POST /device/token returns a short token for hosts. */
import type { RotateAnswer, TokenAnswer } from "boxwright-service/schema/protocol";
import { dateToken, rotate } from "../nouns/credential.ts";
import { loadSigner, tokenSeconds } from "../nouns/signing.ts";
import { refuse } from "../http/refusals.ts";
import type { Agents, DeviceVisit } from "./visit.ts";

export async function postRotate({ db, now }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const { key } = await rotate(db, now(), device);
  exchange.sendJson(200, { credential: key } satisfies RotateAnswer);
}

export async function postToken({ db, now, baseUrl }: Agents, { exchange, device }: DeviceVisit): Promise<void> {
  const time = now();
  const signer = await loadSigner(db, time);
  const issuedAt = await dateToken(db, time, device);
  if (issuedAt === undefined) return refuse(exchange, "invalid_credential");
  const expiresAt = issuedAt + tokenSeconds;
  const token = await signer.sign({
    issuer: baseUrl,
    deviceId: device.id,
    deviceName: device.name,
    teamId: device.team_id,
    issuedAt,
    expiresAt,
  });
  const expires_at = new Date(expiresAt * 1000).toISOString();
  exchange.sendJson(200, { token, expires_at } satisfies TokenAnswer);
}
