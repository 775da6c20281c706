/**
 * The device's key pair. The hub stores the public key. A hub that was restored from a backup recognises the device by
 * a signature.
 */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { signReturn } from "boxwright-service/device-return";
import { publicText } from "boxwright-service/release";
import { readReturnChallenge, readRotateAnswer } from "boxwright-service/schema/protocol";
import { readIfThere, replaceFile } from "../core/files.ts";
import { askHub } from "./client.ts";
import type { Identity } from "./identity.ts";

const fileIn = (state: string): string => join(state, "device-key.pem");

/** Returns the public key of this device. Makes the key pair if there is none. */
export function ownPublicKey(state: string): string {
  const kept = readIfThere(fileIn(state));
  if (kept !== null) return publicText(createPrivateKey(kept));
  const { privateKey } = generateKeyPairSync("ed25519");
  replaceFile(fileIn(state), privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return publicText(privateKey);
}

/**
 * Asks a hub that does not know the credential to let the device come back. Returns the new credential, or null if this
 * device has no key.
 * @throws HubRefusal if the device may not come back now
 */
export async function comeBack(state: string, { hub, deviceId }: Identity): Promise<string | null> {
  const pem = readIfThere(fileIn(state));
  if (pem === null) return null;
  const ask = (body: object) => askHub(hub, { method: "POST", path: "/device/return", body });
  const { challenge } = readReturnChallenge((await ask({ device_id: deviceId })).json);
  const signature = signReturn(pem, deviceId, challenge);
  return readRotateAnswer((await ask({ device_id: deviceId, signature })).json).credential;
}
