/**
 * Files that teams and devices send: models and pictures. A file is named by the SHA-256 of its bytes, under its team;
 * no name that anybody sends is part of a path. Two stores hold them, a folder (`folder.ts`) and a bucket
 * (`bucket.ts`). Bytes arrive in a part on the disk of the hub. The store gets the file when all its bytes are there
 * and their hash is right.
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
  /** Bytes are missing; `size` is the count of those that have arrived. */
  | { readonly kind: "partial"; readonly size: number }
  /** Bytes were sent for another place of the file than its end. */
  | { readonly kind: "out_of_step"; readonly size: number }
  /** Another request sends this file right now. */
  | { readonly kind: "busy"; readonly size: number }
  | { readonly kind: "too_large" }
  /** The bytes have another hash. They were deleted. */
  | { readonly kind: "wrong_hash"; readonly sha256: string }
  /** `check` refused the bytes. They were deleted. */
  | { readonly kind: "wrong_kind"; readonly why: string };

export interface Sent {
  /** Where in the file the bytes begin. 0 begins anew. */
  readonly offset: number;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Says what is wrong with a whole file, by its first bytes. */
  readonly check?: ((head: Buffer) => string | undefined) | undefined;
}

/** A file or a part in the list of a store. */
export interface Listed {
  readonly place: FilePlace;
  readonly isPart: boolean;
  /** Milliseconds since 1970 of its last byte. */
  readonly changedAt: number;
  /** Removes this file or this part, and nothing else. */
  remove(): Promise<void>;
}

/** A store. Each method throws UnavailableError if disk or bucket cannot be used now. */
export interface Files {
  /** Throws UserError with what to do if the store cannot be used as it is configured. */
  check(): Promise<void>;
  /** Returns the size of a file in bytes, or undefined if it is not there. */
  size(place: FilePlace): Promise<number | undefined>;
  /** Returns how many bytes of an unfinished file are there. */
  partSize(place: FilePlace): Promise<number>;
  /** Returns a stream of the bytes `start` to `end`, both included. */
  read(place: FilePlace, start?: number, end?: number): Promise<Readable>;
  /** Adds bytes to a file. Bytes that arrived before the sender hung up stay. */
  receive(place: FilePlace, body: AsyncIterable<Buffer>, sent: Sent): Promise<Received>;
  /** Runs `work` with the path of a file on this machine that has the bytes. */
  withPath<T>(place: FilePlace, work: (path: string) => Promise<T>): Promise<T>;
  /** Removes a file and its part. */
  remove(place: FilePlace): Promise<void>;
  /** Lists all files and parts, but for those that requests of this process are sending. */
  list(): AsyncGenerator<Listed>;
}

const SHA256 = /^[0-9a-f]{64}$/;
const TEAM = /^[0-9a-f-]{36}$/;

export const isSha256 = (text: string): boolean => SHA256.test(text);
export const isTeam = (text: string): boolean => TEAM.test(text);

/** Returns the name of a file below the folder or the bucket. */
export function nameOf({ team, kind, sha256 }: FilePlace): string {
  // Callers check both. Check again here: the name becomes part of a path.
  if (!isTeam(team) || !isSha256(sha256)) throw new Error("got a team or hash that is none");
  return `${team}/${kind}/${sha256}`;
}

/** Returns the place that a name stands for, or undefined if it is none of ours. */
export function placeOf(name: string): FilePlace | undefined {
  const [team = "", kind = "", sha256 = "", ...rest] = name.split("/");
  const isOurs = rest.length === 0 && isTeam(team) && isSha256(sha256) && fileKinds.includes(kind as FileKind);
  return isOurs ? { team, kind: kind as FileKind, sha256 } : undefined;
}
