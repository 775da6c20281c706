/** Sends the last lines of the log to the hub, on request and after a failure. */
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import type { DeviceLog } from "boxwright-service/schema/protocol";
import type { RecentLog } from "../core/recent-log.ts";
import { Bell } from "../core/wait.ts";
import { type HubClient, isFinal } from "./client.ts";

export class Logs {
  readonly #recent: RecentLog;
  readonly #log: Logger;
  readonly #asked = new Bell();
  #reason: DeviceLog["reason"] | null = null;
  /** Versions whose failure was sent to the hub. */
  readonly #failed = new Set<string>();

  constructor(recent: RecentLog, log: Logger) {
    this.#recent = recent;
    this.#log = log;
  }

  /** Sends the lines soon. The reason "failed" replaces "requested", since the hub's page shows the failure. */
  send(reason: DeviceLog["reason"]): void {
    if (this.#reason !== "failed") this.#reason = reason;
    this.#asked.ring();
  }

  /** Sends the lines after a version failed, once for each version. */
  failed(version: string): void {
    if (this.#failed.has(version)) return;
    this.#failed.add(version);
    this.send("failed");
  }

  /**
   * Waits until lines are wanted, and sends them.
   * @throws HubAwayError or HubRefusal if the same request may succeed later
   */
  async sendNext(hub: HubClient, signal: AbortSignal): Promise<void> {
    // Return only after an answer of the hub, since the caller resets its backoff after each return.
    while (this.#reason === null) {
      await this.#asked.heard(signal);
      if (signal.aborted) return;
    }
    const reason = this.#reason;
    const { credential, previous, token } = hub.identity;
    const known = [credential, previous, token].filter((secret) => secret !== null);
    const body: DeviceLog = { reason, text: this.#recent.text(known) };
    try {
      await hub.ask({ method: "POST", path: "/device/log", body, signal });
    } catch (error) {
      // Ignore a final refusal: a hub that is older than this feature does not know the path.
      if (!isFinal(error)) throw error;
      this.#log.warn(`log refused: ${messageOf(error)}`);
    }
    if (this.#reason === reason) this.#reason = null;
  }
}
