/**
 * Shares one sync of the disk among several transactions. A transaction that commits while a sync runs waits for the
 * next one, with all others that came meanwhile: the running one may have begun before its bytes were written.
 */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  /** @param sync brings all that was written before the call to the disk */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Resolves when a sync that began after this call is done. Rejects if it failed. */
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
