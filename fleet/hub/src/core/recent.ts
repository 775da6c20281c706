/** A cache of recently read values. Simultaneous requests for the same value cost one query. */
export class Recent<T> {
  readonly #keepMs: number;
  readonly #read = new Map<string, { readonly until: number; readonly value: Promise<T> }>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  get(key: string, read: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const kept = this.#read.get(key);
    if (kept !== undefined && kept.until > now) return kept.value;
    for (const [old, { until }] of this.#read) if (until <= now) this.#read.delete(old);
    const value = read();
    this.#read.set(key, { until: now + this.#keepMs, value });
    value.catch(() => this.#read.delete(key));
    return value;
  }
}
