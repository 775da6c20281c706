/** Proves to a restored hub that a device is the one that enrolled, by the key pair from its enrolment. */
import { createPrivateKey, sign, verify } from "node:crypto";
import { readPublicKey } from "./release.ts";

const bytesOf = (deviceId: string, challenge: string): Buffer =>
  Buffer.from(`boxwright device return 1\n${deviceId}\n${challenge}`);

/** Returns the signature in base64. */
export const signReturn = (pem: string, deviceId: string, challenge: string): string =>
  sign(null, bytesOf(deviceId, challenge), createPrivateKey(pem)).toString("base64");

export function isReturnSigned(publicKey: string, deviceId: string, challenge: string, signature: string): boolean {
  return verify(null, bytesOf(deviceId, challenge), readPublicKey(publicKey), Buffer.from(signature, "base64"));
}
