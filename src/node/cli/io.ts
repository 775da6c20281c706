/** Streams of a command. */
export interface Io {
  /** Writes to standard output. Bytes come only from `compile`. */
  out(text: string | Uint8Array): void;
  /** Writes to standard error. */
  err(text: string): void;
}
