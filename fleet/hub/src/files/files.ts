/**
 * Files that teams and devices send: models and pictures. A file's name consists of its team and the SHA-256 of its
 * bytes. No text from a sender becomes part of a path. There are two kinds of store: a folder (`folder.ts`) and a
 * bucket (`bucket.ts`). Bytes first arrive in a temporary file (a part) on the disk of the hub. The store gets the file
 * when all its bytes are there and their hash is right.
 */
import type { Readable } from "node:stream";

export const fileKinds = ["models", "snaps"] as const;
export type FileKind = (typeof fileKinds)[number];

export interface FilePlace {
  readonly team: string;
  readonly kind: FileKind;
  /** SHA-256 of the bytes, 64 hexadecimal digits in lower case. */
  readonly sha256: string;
}

/** Result of one request that sends bytes. */
export type Received =
  | { readonly kind: "complete" }
  /** Bytes are missing. `size` is the number of bytes that have arrived. */
  | { readonly kind: "partial"; readonly size: number }
  /** The offset of the sent bytes is not the number of bytes that the hub has. */
  | { readonly kind: "out_of_step"; readonly size: number }
  /** Another request sends this file right now. */
  | { readonly kind: "busy"; readonly size: number }
  | { readonly kind: "too_large" }
  /** The bytes have another hash than stated, and were deleted. */
  | { readonly kind: "wrong_hash"; readonly sha256: string }
  /** `check` refused the bytes, which were deleted. */
  | { readonly kind: "wrong_kind"; readonly why: string };

export interface Sent {
  /** Offset in the file at which the bytes begin. 0 starts the file anew. */
  readonly offset: number;
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Returns what is wrong with a complete file, judged by its first bytes, or undefined if the file may be stored. */
  readonly check?: ((head: Buffer) => string | undefined) | undefined;
}

/** A file or an incomplete file (part) in the list of a store. */
export interface Listed {
  readonly place: FilePlace;
  readonly isPart: boolean;
  /** Time of the last received byte, in milliseconds since 1970. */
  readonly changedAt: number;
  /** Removes this file or this part, and nothing else. */
  remove(): Promise<void>;
}

/** A store. Every method throws UnavailableError while the disk or bucket cannot be used. */
export interface Files {
  /** Checks that the store works as configured. Throws a UserError that says what to do. */
  check(): Promise<void>;
  /** Returns the size of a file in bytes, or undefined if the store has no such file. */
  size(place: FilePlace): Promise<number | undefined>;
  /** Returns how many bytes of an incomplete file have arrived. */
  partSize(place: FilePlace): Promise<number>;
  /** Returns a stream of the bytes `start` to `end`, both included. */
  read(place: FilePlace, start?: number, end?: number): Promise<Readable>;
  /** Adds bytes to a file. If the sender hangs up, the bytes that arrived are kept. */
  receive(place: FilePlace, body: AsyncIterable<Buffer>, sent: Sent): Promise<Received>;
  /** Runs `work` with the path of a local file that holds the bytes. */
  withPath<T>(place: FilePlace, work: (path: string) => Promise<T>): Promise<T>;
  /** Removes a file and its part. */
  remove(place: FilePlace): Promise<void>;
  /** Lists all files and parts, except those that requests of this process are sending. */
  list(): AsyncGenerator<Listed>;
}

const SHA256 = /^[0-9a-f]{64}$/;
const TEAM = /^[0-9a-f-]{36}$/;

export const isSha256 = (text: string): boolean => SHA256.test(text);
export const isTeam = (text: string): boolean => TEAM.test(text);

/** Returns the name of a file below the folder or the bucket. */
export function nameOf({ team, kind, sha256 }: FilePlace): string {
  // Check team and hash here too, since the name becomes part of a path.
  if (!isTeam(team) || !isSha256(sha256)) throw new Error("got a team or hash that is none");
  return `${team}/${kind}/${sha256}`;
}

/** Returns the place of the file with this name. Returns undefined for names that the hub does not write. */
export function placeOf(name: string): FilePlace | undefined {
  const [team = "", kind = "", sha256 = "", ...rest] = name.split("/");
  const isOurs = rest.length === 0 && isTeam(team) && isSha256(sha256) && fileKinds.includes(kind as FileKind);
  return isOurs ? { team, kind: kind as FileKind, sha256 } : undefined;
}
