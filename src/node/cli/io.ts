/** Where a command writes. */
export interface Io {
  /** Bytes only from `compile`. */
  out(text: string | Uint8Array): void;
  err(text: string): void;
}
