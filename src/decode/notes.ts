/** Collects notes, and passes each note to `onNote` once. */
import { warnInDevelopment } from "../core/warn.ts";

export class Notes {
  readonly list: string[] = [];
  readonly #onNote: (note: string) => void;
  /** Notes that `onNote` has received for any plan. */
  readonly #reported = new Set<string>();
  /** Count of the notes in `list` that `report` has handled. */
  #reportedCount = 0;

  constructor(onNote: ((note: string) => void) | null | undefined) {
    this.#onNote = onNote ?? warnInDevelopment;
  }

  /** Replaces the list by the notes of a new plan. */
  begin(notes: readonly string[]): void {
    this.list.splice(0, Infinity, ...notes);
    this.#reportedCount = 0;
  }

  /** Adds a note, unless the list already contains it. */
  add(note: string): void {
    if (!this.list.includes(note)) this.list.push(note);
  }

  /** Calls `onNote` with each note that `onNote` has not received yet. */
  report(): void {
    const onNote = this.#onNote;
    while (this.#reportedCount < this.list.length) {
      const note = this.list[this.#reportedCount++];
      if (this.#reported.has(note)) continue;
      this.#reported.add(note);
      onNote(note);
    }
  }
}
