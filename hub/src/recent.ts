/** What was used last, by name: bounded by count and by characters; the one unused for longest goes first. */
export class Recent<V> {
  readonly #kept = new Map<string, { readonly value: V; readonly characters: number }>();
  readonly #maxEntries: number;
  readonly #maxCharacters: number;
  #characters = 0;

  constructor(maxEntries: number, maxCharacters: number) {
    this.#maxEntries = maxEntries;
    this.#maxCharacters = maxCharacters;
  }

  get size(): number {
    return this.#kept.size;
  }

  get characters(): number {
    return this.#characters;
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** What stands there, which counts as used only if it is `wanted`. */
  get(name: string, wanted: (value: V) => boolean = () => true): V | undefined {
    const known = this.#kept.get(name);
    if (known === undefined || !wanted(known.value)) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, known);
    return known.value;
  }

  set(name: string, value: V, characters: number): void {
    this.#forget(name);
    this.#kept.set(name, { value, characters });
    this.#characters += characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.characters ?? 0;
    this.#kept.delete(name);
  }
}
