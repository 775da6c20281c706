/**
 * Shares one sync of the disk among several transactions. A transaction that commits during a sync waits for the next
 * sync, since the running sync may have started before the transaction's bytes were written. All waiting transactions
 * share the next sync.
 */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  /** @param sync brings all bytes that were written before the call to the disk */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves after a sync that began after this call. Rejects if that sync failed. */
  wait(): Promise<void> {
    if (this.#running === null) return this.#start();
    return (this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#start();
      }));
  }

  #start(): Promise<void> {
    const running = this.#sync().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    return (this.#running = running);
  }
}
