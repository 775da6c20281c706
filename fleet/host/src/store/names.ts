/** Names that devices have in their hub. Tokens contain these names, and all hosts of the database show them. */
import type { Database } from "boxwright-service/database";

/** Largest number of names for which the host remembers that they are written. */
const MOST_KNOWN = 20_000;

export class DeviceNames {
  readonly #db: Database;
  readonly #onError: (error: unknown) => void;
  /** Names that this host has written, by source. */
  readonly #written = new Map<string, string>();

  /** @param onError called with the error if a name cannot be written */
  constructor(db: Database, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Returns the name of the device that sends as `source`, if this host has written the name since its start. */
  nameOf(source: string): string | undefined {
    return this.#written.get(source);
  }

  /**
   * Writes the name of the device that sends as `source`, unless this host has already written it. Never rejects, since
   * the packet with the name is stored already.
   */
  async note(source: string, name: string): Promise<void> {
    if (this.#written.get(source) === name) return;
    const sql =
      "INSERT INTO device_names (source, name) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET name = excluded.name";
    try {
      await this.#db.write((tx) => tx.all(sql, [source, name]));
    } catch (error) {
      return this.#onError(error);
    }
    if (this.#written.size >= MOST_KNOWN) this.#written.clear();
    this.#written.set(source, name);
  }
}
