/** The streams of a command. */
export interface Io {
  /** Writes to standard output. Bytes come only from `compile`. */
  out(text: string | Uint8Array): void;
  err(text: string): void;
  /** Reads standard input to its end. If absent, standard input counts as empty. */
  stdin?(): Promise<Uint8Array>;
  /** Calls `tell` on Ctrl-C, before the process exits. Returns a function that removes this handler. */
  onInterrupt?(tell: () => void): () => void;
  /** True if standard error is a terminal, whose current line can be overwritten. Default false. */
  readonly isTerminal?: boolean;
}
