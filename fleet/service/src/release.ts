/**
 * A release of the agent: an archive and its version, signed with Ed25519 outside of the hub. The signature covers the
 * exact JSON text, so signer and verifier cannot serialise the release differently.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";

export interface Release {
  /** Version of three numbers, such as 1.2.0. A device refuses a version that is not newer than its own. */
  readonly version: string;
  /** System and processor of the archive, such as linux-arm64. */
  readonly platform: string;
  /** SHA-256 of the archive. */
  readonly sha256: string;
  readonly size: number;
  readonly name: string;
  /** ISO 8601. */
  readonly signed_at: string;
}

/** A release with its signature, in the form in which it is sent. */
export interface SignedRelease {
  /** JSON of a Release. */
  readonly release: string;
  /** Signature of 64 bytes, in base64. */
  readonly signature: string;
}

/** The answer of GET /device/agent. */
export interface DesiredAgent {
  readonly signed: SignedRelease;
  /** Name of this release in reports and heartbeats. */
  readonly etag: string;
}

/** Error: a release is damaged, or not signed by a trusted key. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}

/** Text before each signed release, so that a signature of another kind of text cannot be reused. */
const CONTEXT = "boxwright agent release 1\n";
const PREFIX = "ed25519:";
/** Bytes before the 32 bytes of an Ed25519 key in SPKI form (RFC 8410). */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** Returns a public key as text for settings: ed25519: and 43 characters. */
export function publicText(key: KeyObject): string {
  const spki = (key.type === "private" ? createPublicKey(key) : key).export({ type: "spki", format: "der" });
  return PREFIX + spki.subarray(SPKI.length).toString("base64url");
}

/**
 * Reads a public key from the settings.
 * @throws ReleaseError
 */
export function readPublicKey(text: string): KeyObject {
  const raw = Buffer.from(text.slice(PREFIX.length), "base64url");
  if (!text.startsWith(PREFIX) || raw.length !== 32)
    throw new ReleaseError(`got key ${JSON.stringify(text.slice(0, 80))}, expected ${PREFIX} and 43 characters`);
  return createPublicKey({ key: Buffer.concat([SPKI, raw]), type: "spki", format: "der" });
}

export function signRelease(release: Release, pem: string, passphrase?: string): SignedRelease {
  const key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  if (key.asymmetricKeyType !== "ed25519")
    throw new ReleaseError(`got a key of ${key.asymmetricKeyType}, expected one that \`release key\` made`);
  const text = JSON.stringify(release);
  return { release: text, signature: sign(null, Buffer.from(CONTEXT + text), key).toString("base64") };
}

/**
 * Returns the release if one of the keys has signed this text.
 * @throws ReleaseError
 */
export function verifyRelease(signed: SignedRelease, keys: readonly string[]): Release {
  const bytes = Buffer.from(CONTEXT + signed.release);
  const signature = Buffer.from(signed.signature, "base64");
  if (!keys.some((key) => verify(null, bytes, readPublicKey(key), signature)))
    throw new ReleaseError("the release is signed by none of the keys that this device trusts (update.keys)");
  return readRelease(signed.release);
}

const HASH = /^[\da-f]{64}$/;
const VERSION = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

/** Reads the text of a release, which may come from anybody. @throws ReleaseError */
export function readRelease(text: string): Release {
  const fail = (name: string, got: unknown, expected: string): never => {
    throw new ReleaseError(`release: got ${name} ${JSON.stringify(got)?.slice(0, 80)}, expected ${expected}`);
  };
  let json: Partial<Record<keyof Release, unknown>> | null = null;
  try {
    json = JSON.parse(text) as typeof json;
  } catch {
    // Go on to the check below, which reports the error.
  }
  if (typeof json !== "object" || json === null) return fail("text", text, "JSON");
  const { version, platform, sha256, size, name, signed_at } = json;
  if (typeof version !== "string" || !VERSION.test(version)) return fail("version", version, "one like 1.2.0");
  if (typeof platform !== "string" || !/^[\w-]{1,40}$/.test(platform))
    return fail("platform", platform, "one like linux-x64");
  if (typeof sha256 !== "string" || !HASH.test(sha256)) return fail("sha256", sha256, "64 hexadecimal digits");
  if (!Number.isSafeInteger(size) || (size as number) < 1) return fail("size", size, "a count of bytes");
  if (typeof name !== "string" || !/^[^\0-\x1f/]{1,200}$/.test(name)) return fail("name", name, "a file name");
  if (typeof signed_at !== "string" || Number.isNaN(Date.parse(signed_at)))
    return fail("signed_at", signed_at, "a time in ISO 8601");
  return { version, platform, sha256, size: size, name, signed_at };
}

/** Reads a signed release, but does not check the signature. @throws ReleaseError */
export function readSigned(value: unknown): SignedRelease {
  const { release, signature } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof release !== "string" || typeof signature !== "string")
    throw new ReleaseError("got no signed release, expected the JSON of `release sign`: release and signature");
  readRelease(release);
  if (!/^[\w+/]{86}==$/.test(signature))
    throw new ReleaseError("release: got a signature of another form, expected 64 bytes in base64");
  return { release, signature };
}

/** Reads the answer of GET /device/agent. @throws ReleaseError */
export function readDesiredAgent(value: unknown): DesiredAgent {
  const { signed, etag } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof etag !== "string" || !/^[\w.:@-]{1,128}$/.test(etag))
    throw new ReleaseError(`release: got etag ${JSON.stringify(etag)?.slice(0, 80)}, expected one of the hub`);
  return { signed: readSigned(signed), etag };
}

/** Returns a negative number if the first version is older, 0 if both are equal, else a positive number. */
export function compareVersions(a: string, b: string): number {
  const parts = (version: string): number[] => version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns the SHA-256 of a signed release, which a device stores as the release's id. */
export const releaseId = ({ release, signature }: SignedRelease): string =>
  createHash("sha256").update(`${release}\n${signature}`).digest("hex");
