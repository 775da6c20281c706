/** Checks the credential of a device. */
import type { Queries } from "boxwright-service/database";
import { hashKey, readKey, sameHash } from "../core/key.ts";
import { lookUpCredential, type KnownDevice } from "../nouns/credential.ts";

export type JudgedDevice =
  /** `no_key`: the prefix or checksum of the token is wrong, and the database was not queried. */
  { readonly result: "no_key" | "unknown" } | { readonly result: "ok"; readonly device: KnownDevice };

/**
 * Looks the credential up in the database every time, so that a revoked credential is refused from the next request on.
 */
export async function judgeDevice(db: Queries, token: string): Promise<JudgedDevice> {
  const id = readKey(token, "bwd");
  if (id === undefined) return { result: "no_key" };
  const row = await lookUpCredential(db, id);
  // Compare even if the id is unknown, so that the answer takes as long as the answer to a wrong secret.
  const same = sameHash(hashKey(token), row?.hash ?? "0".repeat(64));
  if (row === undefined || !same) return { result: "unknown" };
  return { result: "ok", device: row };
}
