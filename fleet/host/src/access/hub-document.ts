/**
 * Reads the public document of a hub: the keys that check device tokens, and the revoked devices. The database keeps
 * the last document, so that a host knows its devices even if it starts while the hub is unreachable.
 */
import { type HubDocument, HUB_DOCUMENT_PATH, readHubDocument } from "boxwright-service/schema/protocol";
import type { Database } from "boxwright-service/database";
import { connectionProblem, messageOf } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import { runWithin } from "boxwright-service/patience";

/** Milliseconds after which a request to the hub is given up. */
const PATIENCE_MS = 10_000;
/** Largest number of characters in a document. A document with a million revoked devices is smaller. */
const MOST_CHARACTERS = 2 ** 27;

export interface HubOptions {
  /** Address of the hub. */
  readonly hub: string;
  /** Largest number of seconds until a revoked device is refused. */
  readonly hubSeconds: number;
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => number;
}

/** Seconds by which the hub's document may be outdated, including the time for the answer. */
const BEHIND_SECONDS = 1;

/** Returns the seconds between two reads, short enough that a revocation arrives within `hubSeconds`. */
export const pauseOf = (hubSeconds: number): number => Math.max(hubSeconds / 2, hubSeconds - BEHIND_SECONDS);

export class HubDocuments {
  /** The last document that was read; null if none was. */
  document: HubDocument | null = null;
  /** Why the last read failed; null if it succeeded. */
  problem: string | null = null;
  /** Called with each new document. */
  onChange: (document: HubDocument) => void = () => undefined;
  readonly #options: HubOptions;
  #etag = "";
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> = Promise.resolve();
  readonly #end = new AbortController();

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** Loads the stored document. Then reads the hub's document now, and again as often as `hubSeconds` demands. */
  async start(): Promise<void> {
    await this.#restore();
    await this.read();
    const { hub, hubSeconds, log } = this.#options;
    if (this.document === null) log.warn({ hub }, "tokens of devices are refused until the hub answers");
    this.#timer = setInterval(
      () => {
        this.#reading = this.read();
      },
      pauseOf(hubSeconds) * 1000,
    );
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#end.abort();
    await this.#reading;
  }

  /** Reads the document once. After a failure, the previous document stays in use. */
  async read(): Promise<void> {
    const { hub, log } = this.#options;
    try {
      await this.#fetch();
      if (this.problem !== null) log.info({ hub }, "the hub answers again");
      this.problem = null;
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const problem = connectionProblem(error);
      if (problem !== this.problem)
        log.warn({ hub, error: problem }, "cannot read keys and revoked devices of the hub");
      this.problem = problem;
    }
  }

  async #fetch(): Promise<void> {
    const { hub, log } = this.#options;
    await runWithin(PATIENCE_MS, this.#end.signal, async (signal) => {
      const answer = await fetch(hub + HUB_DOCUMENT_PATH, {
        headers: this.#etag === "" ? {} : { "if-none-match": this.#etag },
        redirect: "error",
        signal,
      });
      if (answer.status === 304) return;
      const text = await answer.text();
      if (answer.status !== 200 || text.length > MOST_CHARACTERS)
        throw new Error(`got ${answer.status} with ${text.length} characters, expected 200 and the document of a hub`);
      this.#take(text);
      this.#etag = answer.headers.get("etag") ?? "";
      await this.#keep(text).catch((error: unknown) => {
        // Storing failed, although the document is in use. Request the whole document next time, to store it then.
        this.#etag = "";
        log.warn({ hub, error: messageOf(error) }, "the document of the hub cannot be kept for the next start");
      });
    });
  }

  #take(text: string): void {
    this.document = readHubDocument(JSON.parse(text));
    this.onChange(this.document);
  }

  async #restore(): Promise<void> {
    const { db, hub, log } = this.#options;
    const [row] = await db.all<{ document: string }>("SELECT document FROM hub_documents WHERE hub = ?", [hub]);
    try {
      if (row) this.#take(row.document);
    } catch (error) {
      log.warn({ hub, error: messageOf(error) }, "the kept document of the hub cannot be read");
    }
  }

  async #keep(text: string): Promise<void> {
    const { db, hub, now } = this.#options;
    await db.write((tx) =>
      tx.all(
        "INSERT INTO hub_documents (hub, document, read_at) VALUES (?, ?, ?) ON CONFLICT (hub) DO UPDATE SET document = excluded.document, read_at = excluded.read_at",
        [hub, text, now()],
      ),
    );
  }
}
