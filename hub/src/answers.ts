/**
 * Answers that were made before, for as long as they would come out the same.
 *
 * A backend sends the same request for ever, and a team's devices seldom change. An answer with the whole list is a
 * function of five things: the team, its name, its list of devices, the body and the Accept header. The first three come
 * from the database anew with **every** request, in the statement that judges the key, and are compared here in full;
 * where one differs, the query is executed again. So nothing can be out of date: not the key, which is never kept, and
 * not the list, whoever changed it and from whichever process.
 *
 * Kept from the second time on. Bounded by count and by characters; the one unused for longest goes first.
 */
export interface Answer {
  readonly type: string;
  readonly body: string;
}

interface Kept extends Answer {
  readonly teamName: string;
  readonly list: string;
  readonly size: number;
}

/** Longer requests are rare; keeping their text would be a way to fill the memory. */
const MAX_REQUEST = 4096;
const MAX_ONCE = 500;

const nameOf = (teamId: string, accept: string | undefined, body: string): string => `${teamId}\n${accept ?? ""}\n${body}`;

export class Answers {
  readonly #kept = new Map<string, Kept>();
  readonly #maxEntries: number;
  readonly #maxCharacters: number;
  #characters = 0;
  /** Asked for once. Only what is asked for again is kept: a client that never repeats itself shall not fill the memory. */
  readonly #once = new Set<string>();
  /** How many requests were answered from here, for tests. */
  found = 0;

  constructor(maxEntries = 2000, maxCharacters = 2 ** 24) {
    this.#maxEntries = maxEntries;
    this.#maxCharacters = maxCharacters;
  }

  get size(): number {
    return this.#kept.size;
  }

  get characters(): number {
    return this.#characters;
  }

  find(teamId: string, teamName: string, list: string, accept: string | undefined, body: string): Answer | undefined {
    if (body.length > MAX_REQUEST) return undefined;
    const name = nameOf(teamId, accept, body);
    const known = this.#kept.get(name);
    if (known === undefined || known.teamName !== teamName || known.list !== list) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, known);
    this.found++;
    return known;
  }

  keep(teamId: string, teamName: string, list: string, accept: string | undefined, body: string, { type, body: text }: Answer): void {
    const name = nameOf(teamId, accept, body);
    if (body.length > MAX_REQUEST || name.length > 2 * MAX_REQUEST) return;
    if (!this.#kept.has(name) && !this.#once.delete(name)) {
      this.#once.add(name);
      if (this.#once.size > MAX_ONCE) for (const oldest of this.#once) return void this.#once.delete(oldest);
      return;
    }
    this.#forget(name);
    const size = name.length + list.length + text.length;
    this.#kept.set(name, { type, body: text, teamName, list, size });
    this.#characters += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.size ?? 0;
    this.#kept.delete(name);
  }
}
