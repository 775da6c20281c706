/** Joins the look-ups for many nodes of an answer into one query. */
export class Batch<T> {
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly #found = new Map<string, Promise<T | undefined>>();
  #next: { readonly ids: string[]; readonly rows: Promise<ReadonlyMap<string, T>> } | undefined;

  constructor(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#read = read;
  }

  /** Returns the value of an id. One query reads all ids that are requested in one turn of the event loop. */
  load(id: string): Promise<T | undefined> {
    let found = this.#found.get(id);
    if (found === undefined) this.#found.set(id, (found = this.#join(id)));
    return found;
  }

  async #join(id: string): Promise<T | undefined> {
    if (this.#next === undefined) {
      const ids: string[] = [];
      const rows = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
        this.#next = undefined;
        return this.#read(ids);
      });
      this.#next = { ids, rows };
    }
    const { ids, rows } = this.#next;
    ids.push(id);
    return (await rows).get(id);
  }
}
