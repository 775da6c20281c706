/**
 * The key with which this hub signs tokens of devices. Hosts fetch the public half. The key is in the database, so that
 * all processes of a hub use the same key. Backups leave the key out, since tokens last only seven days and devices
 * renew them every hour.
 */
import type { Database, Queries } from "boxwright-service/database";
import { exportJWK, generateKeyPair, importJWK, SignJWT, type CryptoKey, type JWK } from "jose";
import { newId } from "../core/ids.ts";
import { audit } from "./audit.ts";
import { TOKEN_DAYS } from "./credential.ts";

const ALGORITHM = "EdDSA";

interface KeyRow {
  readonly id: string;
  readonly private_key: string;
  readonly public_key: string;
}

export interface Signer {
  /** Public keys with their `kid`, in the form that hosts read. */
  readonly publicKeys: readonly JWK[];
  sign(claims: TokenClaims): Promise<string>;
}

export interface TokenClaims {
  readonly issuer: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly teamId: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export const tokenSeconds = TOKEN_DAYS * 86_400;

/** Returns the signer of this hub. The very first call makes the key. */
export async function loadSigner(db: Database, now: number): Promise<Signer> {
  let rows = await read(db);
  if (rows.length === 0) {
    const made = await makeKey(now);
    rows = await db.write(async (tx) => {
      // Check again: another process may have inserted a key meanwhile.
      if ((await read(tx)).length === 0) await insert(tx, made, now);
      return read(tx);
    });
  }
  const newest = rows[0]!;
  const key = (await importJWK(JSON.parse(newest.private_key) as JWK, ALGORITHM)) as CryptoKey;
  const publicKeys = rows.map(({ id, public_key }) => ({
    ...(JSON.parse(public_key) as JWK),
    kid: id,
    alg: ALGORITHM,
    use: "sig",
  }));
  return {
    publicKeys,
    sign: ({ issuer, deviceId, deviceName, teamId, issuedAt, expiresAt }) =>
      new SignJWT({ team: teamId, name: deviceName })
        .setProtectedHeader({ alg: ALGORITHM, kid: newest.id, typ: "JWT" })
        .setIssuer(issuer)
        .setSubject(deviceId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key),
  };
}

/**
 * Replaces all keys by a new one. Hosts that have read the new key refuse tokens of older keys, and agents then request
 * new tokens.
 * @returns the id of the new key
 */
export async function replaceSigningKey(db: Database, now: number, actor: string): Promise<string> {
  const made = await makeKey(now);
  await db.write(async (tx) => {
    await tx.all("DELETE FROM signing_keys");
    await insert(tx, made, now);
    await audit(tx, now, actor, "signing_key.replaced", null, made.id);
  });
  return made.id;
}

async function makeKey(now: number): Promise<KeyRow> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  const textOf = async (key: CryptoKey): Promise<string> => JSON.stringify(await exportJWK(key));
  return { id: newId(now), private_key: await textOf(privateKey), public_key: await textOf(publicKey) };
}

async function insert(tx: Queries, { id, private_key, public_key }: KeyRow, now: number): Promise<void> {
  await tx.all("INSERT INTO signing_keys (id, private_key, public_key, created_at) VALUES (?, ?, ?, ?)", [
    ...[id, private_key, public_key, now],
  ]);
}

const read = (db: Queries): Promise<KeyRow[]> =>
  db.all<KeyRow>("SELECT id, private_key, public_key FROM signing_keys ORDER BY created_at DESC, id DESC");
