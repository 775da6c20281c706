/**
 * Makes, reads, hashes and compares keys. This file needs no database. API keys of teams begin with `hub_`, adopt keys
 * with `bwa_`, credentials of devices with `bwd_`.
 *
 *     hub_ a1B2c3D4e5F6 _ 0123456789abcdefghijklmnopqrstuv 0Zx9Qw
 *     |    |              |                                |
 *     |    |              |                                CRC-32 of all before it, 6 base62 digits
 *     |    |              secret, 32 base62 digits: 190 bits
 *     |    public id, 12 base62 digits: what a user may quote, what logs and the audit show
 *     fixed prefix, for secret scanners
 *
 * The checksum lets the hub (and a scanner) refuse a mistyped or invented key without asking the database.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECK_LENGTH = 6;

/** Pattern for secret scanners: matches every API key of a hub, and nothing shorter or longer. */
export const KEY_PATTERN = /\bhub_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}\b/;
/** Matches the keys of all three kinds. */
export const ANY_KEY_PATTERN = /\b(hub|bwa|bwd)_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}\b/;
const WHOLE_KEY = /^(hub|bwa|bwd)_([0-9A-Za-z]{12})_[0-9A-Za-z]{38}$/;
const PUBLIC_ID = /^[0-9A-Za-z]{12}$/;

export type RandomBytes = (size: number) => Uint8Array;
/** `hub` for API keys of teams, `bwa` for adopt keys, `bwd` for credentials of devices. */
export type KeyPrefix = "hub" | "bwa" | "bwd";

/**
 * Draws base62 digits, each equally likely. Discards bytes of 248 and above, since 248 = 4 * 62 is the largest multiple
 * of 62.
 */
function digits(length: number, random: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random(length)) if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let out = "";
  for (let i = 0; i < CHECK_LENGTH; i++) {
    out = ALPHABET.charAt(rest % 62) + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

export interface MintedKey {
  readonly id: string;
  /** The full key. The hub shows the key once, and stores it nowhere. */
  readonly key: string;
  readonly hash: string;
}

export function mintKey(prefix: KeyPrefix = "hub", random: RandomBytes = randomBytes): MintedKey {
  const id = digits(ID_LENGTH, random);
  const body = `${prefix}_${id}_${digits(SECRET_LENGTH, random)}`;
  const key = body + checksum(body);
  return { id, key, hash: hashKey(key) };
}

/** Returns the public id of a well-formed key of this kind, else undefined. Does not compare the secret. */
export function readKey(text: string, prefix: KeyPrefix = "hub"): string | undefined {
  const [, found, id] = WHOLE_KEY.exec(text) ?? [];
  if (found !== prefix || id === undefined) return undefined;
  const end = text.length - CHECK_LENGTH;
  return checksum(text.slice(0, end)) === text.slice(end) ? id : undefined;
}

export function isKeyId(text: string): boolean {
  return PUBLIC_ID.test(text);
}

/** Hashes a key. A fast hash such as SHA-256 is enough, since nobody can guess 190 random bits. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** Compares two SHA-256 hashes in hex, in constant time. */
export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
