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
import { Recent } from "./recent.ts";

export interface Answer {
  readonly type: string;
  readonly body: string;
}

interface Kept extends Answer {
  readonly teamName: string;
  readonly list: string;
}

/** Longer requests are rare; keeping their text would be a way to fill the memory. */
const MAX_REQUEST = 4096;
const MAX_ONCE = 500;

const nameOf = (teamId: string, accept: string | undefined, body: string): string => `${teamId}\n${accept ?? ""}\n${body}`;

export class Answers {
  readonly #kept: Recent<Kept>;
  /** Asked for once. Only what is asked for again is kept: a client that never repeats itself shall not fill the memory. */
  readonly #once = new Set<string>();
  /** How many requests were answered from here, for tests. */
  found = 0;

  constructor(maxEntries = 2000, maxCharacters = 2 ** 24) {
    this.#kept = new Recent(maxEntries, maxCharacters);
  }

  get size(): number {
    return this.#kept.size;
  }

  get characters(): number {
    return this.#kept.characters;
  }

  find(teamId: string, teamName: string, list: string, accept: string | undefined, body: string): Answer | undefined {
    if (body.length > MAX_REQUEST) return undefined;
    const known = this.#kept.get(nameOf(teamId, accept, body), (k) => k.teamName === teamName && k.list === list);
    if (known !== undefined) this.found++;
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
    this.#kept.set(name, { type, body: text, teamName, list }, name.length + list.length + text.length);
  }
}
