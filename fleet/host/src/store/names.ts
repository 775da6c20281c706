/** Names of devices, as their hub knows them. Tokens bring them; all hosts of the database show them. */
import type { Database } from "boxwright-service/database";

/** Most names that are remembered as written. */
const MOST_KNOWN = 20_000;

export class DeviceNames {
  readonly #db: Database;
  /** Names that this host has written, by source. */
  readonly #written = new Map<string, string>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Writes the name of the device that sends as `source`, if this host has not written it yet. */
  async note(source: string, name: string): Promise<void> {
    if (this.#written.get(source) === name) return;
    await this.#db.write((tx) =>
      tx.all(
        "INSERT INTO device_names (source, name) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET name = excluded.name",
        [source, name],
      ),
    );
    if (this.#written.size >= MOST_KNOWN) this.#written.clear();
    this.#written.set(source, name);
  }
}
