/**
 * Communicates with the hub: heartbeats, the assigned application, tokens for hosts, and snaps. Frames are processed
 * without the hub too.
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import {
  type DesiredConfig,
  HEARTBEAT_SECONDS,
  type Heartbeat,
  deviceSource,
  readDesiredConfig,
  readHeartbeatAnswer,
  readRotateAnswer,
  readTokenAnswer,
} from "boxwright-service/schema/protocol";
import { Backoff, spreadOut } from "boxwright-service/retry";
import { Bell, wait } from "../core/wait.ts";
import type { Bearer } from "../sinks/sink.ts";
import type { Logs } from "./logs.ts";
import type { Pause } from "./pause.ts";
import type { Shadow } from "./shadow.ts";
import type { Snaps } from "./snaps.ts";
import type { Updates } from "./updates.ts";
import type { Application } from "./application.ts";
import { HubAwayError, type HubClient, HubRefusal, RevokedError, isFinal } from "./client.ts";
import { comeBack } from "./device-key.ts";
import { interfacesOf, machine } from "../core/machine.ts";

/** Seconds for which the hub may delay its answer until something changes. Proxies often cut requests at 60 s. */
const HOLD = 50;
const HOLD_PATIENCE = 65_000;
/** Smallest number of milliseconds between two requests for the application, since the hub may answer at once. */
const LEAST_HOLD = 1000;
const TOKEN_EVERY = 3_600_000;
/** Smallest number of milliseconds between two requests for a token. */
const TOKEN_PAUSE = 5000;
/**
 * Milliseconds by which device and hub clocks may differ without a log line. The hub's page shows larger differences
 * too.
 */
const CLOCK_SLACK = 60_000;
/**
 * Least and most milliseconds after which a revoked device asks the hub again, since the hub may be restored from a
 * backup. Somebody who restores a hub lets the devices return soon after, so the first pauses are short.
 */
const REVOKED_PAUSES = [30_000, 300_000] as const;
/**
 * SOON: milliseconds until a task continues after a new credential, or until a heartbeat confirms a pause. FRESH:
 * milliseconds for which a credential counts as new.
 */
const [SOON, FRESH] = [500, 30_000];
/** Problem text of a refused credential. A hub cannot distinguish a revoked device from an unknown one. */
const REVOKED =
  "the hub refuses the credential of this device: it was revoked, or the hub was restored from a backup or made anew";

/**
 * Number of heartbeat counters reserved for each start. The next start continues above this range, so that counters
 * only grow.
 */
export const BEATS_PER_START = 2 ** 20;

/** The fields of a heartbeat that the agent's own counts provide. */
export type Status = Pick<Heartbeat, "frames" | "dropped" | "lost" | "decode_ms" | "spool" | "last_error" | "host_url">;

export interface LinkParts {
  readonly client: HubClient;
  readonly application: Application;
  /** Counter of the first heartbeat, larger than those of all earlier starts. */
  readonly firstBeat: number;
  readonly status: () => Status;
  readonly snaps: Snaps;
  readonly logs: Logs;
  readonly pause: Pause;
  readonly updates: Updates;
  readonly shadow: Shadow;
  /** State folder of the agent. */
  readonly state: string;
  readonly log: Logger;
}

export class HubLink implements Bearer {
  /** Error of the last request to the hub; null if the hub answered. */
  problem: string | null = "not asked yet";
  /** True if the hub refuses the device's credential. */
  isRevoked = false;
  readonly #parts: LinkParts;
  readonly #processId = randomBytes(12).toString("hex");
  #beats = 0;
  /** Number of acknowledged heartbeats, and the time of the last one. */
  #acknowledged = 0;
  #acknowledgedAt = -Infinity;
  #isClockWrong = false;
  /** True if the last request got no answer. */
  #isAway = false;
  /** The running request to come back to a restored hub; null if there is none. */
  #returning: Promise<boolean> | null = null;
  #returnedAt = -Infinity;
  /** Rings when the hub has let the device come back. */
  readonly #returned = new Bell();
  /** Number of the hub's answers at the last failure. */
  #answersAtFailure = 0;
  /** Rings when a host has refused the token. */
  readonly #denied = new Bell();

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** True if the hub has paused the device. */
  get isPaused(): boolean {
    return this.#parts.pause.isPaused;
  }

  /** Number of acknowledged heartbeats, and milliseconds since the last one. */
  get contact(): { readonly beats: number; readonly sinceBeat: number } {
    return { beats: this.#acknowledged, sinceBeat: performance.now() - this.#acknowledgedAt };
  }

  /** CloudEvents source of this device's packets. */
  get source(): string {
    return deviceSource(this.#parts.client.identity.deviceId);
  }

  /** Returns the token that the hub signed for hosts. The token is stored on disk for the next start. */
  token(): string | null {
    return this.#parts.client.identity.token;
  }

  /** Records that a host refused the token. */
  denied(): void {
    this.#denied.ring();
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#parts.shadow.close());
    await Promise.all([
      this.#repeat(signal, () => this.#beat(signal)),
      this.#repeat(signal, () => this.#renewToken(signal)),
      this.#repeat(signal, () => this.#followApplication(signal)),
      this.#repeat(signal, () => this.#parts.snaps.sendNext(this.#parts.client, signal).then(() => 0)),
      this.#repeat(signal, () => this.#parts.logs.sendNext(this.#parts.client, signal).then(() => LEAST_HOLD)),
      this.#repeat(signal, () => this.#parts.updates.followNext(this.#parts.client, signal).then(() => LEAST_HOLD)),
      this.#repeat(signal, () => this.#parts.shadow.followNext(this.#parts.client, signal).then(() => LEAST_HOLD)),
    ]);
  }

  /** Repeats a task, which returns the milliseconds until its next turn. After each failure, waits longer. */
  async #repeat(signal: AbortSignal, task: () => Promise<number>): Promise<void> {
    const backoff = new Backoff(1000, HEARTBEAT_SECONDS * 1000);
    const revoked = new Backoff(...REVOKED_PAUSES);
    while (!signal.aborted) {
      let pause: number;
      try {
        pause = await task();
        backoff.reset();
        revoked.reset();
        // Report success only if the hub has answered since the last failure: a task may also return without a request.
        if (this.#parts.client.answers > this.#answersAtFailure) this.#answered();
      } catch (error) {
        if (signal.aborted) return;
        this.#answersAtFailure = this.#parts.client.answers;
        this.#failed(error);
        const asked = error instanceof HubRefusal ? (error.askedPause ?? 0) : 0;
        const isRevoked = error instanceof RevokedError;
        // Any task may bring the device back. That wakes all other tasks.
        if (isRevoked && !(await this.#comeBack())) await this.#returned.heard(signal, revoked.next());
        pause = isRevoked ? SOON : Math.max(asked, backoff.next());
      }
      await wait(pause, signal);
    }
  }

  /**
   * Asks the hub to let this device come back. Tasks that are refused at the same time share one request. Returns true
   * if the hub agreed.
   */
  #comeBack(): Promise<boolean> {
    const { client, state, log, application, updates } = this.#parts;
    const work = async (): Promise<boolean> => {
      // Do not ask again soon after a success: this refusal is about a request that was sent with the old credential.
      if (performance.now() - this.#returnedAt < FRESH) return true;
      try {
        const credential = await comeBack(state, client.identity);
        if (credential === null) return false;
        client.renew(credential);
        application.forgetReport();
        updates.forgetReport();
        this.#returnedAt = performance.now();
        this.#returned.ring();
        log.info({ device: client.identity.deviceId }, "the hub has taken this device back");
        return true;
      } catch {
        // The hub is unreachable, or lets no devices come back now. Ask again in the next turn.
        return false;
      }
    };
    this.#returning ??= work().finally(() => (this.#returning = null));
    return this.#returning;
  }

  #answered(): void {
    if (this.isRevoked || this.problem !== null) this.#parts.log.info("the hub answers");
    this.isRevoked = false;
    this.#isAway = false;
    this.problem = null;
  }

  #failed(error: unknown): void {
    const { log, client } = this.#parts;
    if (error instanceof RevokedError) {
      if (!this.isRevoked)
        log.error(
          { hub: client.identity.hub, device: client.identity.deviceId },
          `${REVOKED}. Hosts refuse its packets, which wait in the spool. ` +
            "After a restore, let devices return on the hub's page: this one then comes back by itself. Otherwise stop the " +
            "agent, enrol it with a new adopt key (boxwright-agent enrol), and start it: a key in the settings is not used " +
            "for that",
        );
      this.isRevoked = true;
      this.problem = REVOKED;
      return;
    }
    const problem = messageOf(error);
    // Log a refusal as an error, since agent or hub is at fault. Log an unreachable hub once, as a warning, since that
    // is normal for a while.
    const isAway = error instanceof HubAwayError;
    if (isAway ? !this.#isAway : problem !== this.problem) log[isAway ? "warn" : "error"](problem);
    this.#isAway = isAway;
    this.problem = problem;
  }

  async #beat(signal: AbortSignal): Promise<number> {
    const { client, application, firstBeat, status, snaps, logs, pause, updates, shadow } = this.#parts;
    const { version, model, architecture } = machine;
    const compared = shadow.keepReport();
    const body: Heartbeat = {
      counter: firstBeat + this.#beats++,
      process_id: this.#processId,
      ...{ version, model, architecture },
      time: new Date().toISOString(),
      application: application.reported,
      ...status(),
      network_interfaces: interfacesOf(),
      paused: pause.isPaused,
      ...(compared && { shadow: compared }),
    };
    const { json } = await client.ask({ method: "POST", path: "/device/heartbeat", body, signal });
    const answer = readHeartbeatAnswer(json);
    this.#acknowledged++;
    this.#acknowledgedAt = performance.now();
    updates.want(answer.desired_agent ?? null);
    shadow.want(answer.shadow ?? null);
    this.#compareClocks(answer.time);
    const isNew = pause.isPaused !== answer.paused;
    pause.set(answer.paused);
    if (answer.log_requested) logs.send("requested");
    if (answer.snap_requested && !answer.paused) snaps.request();
    if (answer.rotate) await this.#rotate(signal);
    // Confirm a pause, or its end, at once: somebody waits for it on the hub's page.
    if (isNew) return SOON;
    // Spread the heartbeats: otherwise, all devices would send at the same moment after a restart of the hub.
    return spreadOut(Math.max(1, answer.interval_seconds) * 1000);
  }

  /** Logs when this device's clock starts or stops to differ from the hub's clock. */
  #compareClocks(hubTime: string): void {
    const isWrong = Math.abs(Date.parse(hubTime) - Date.now()) > CLOCK_SLACK;
    if (isWrong === this.#isClockWrong) return;
    this.#isClockWrong = isWrong;
    const { log } = this.#parts;
    const clocks = { device: new Date().toISOString(), hub: hubTime };
    if (isWrong) log.warn(clocks, "the clocks of device and hub differ: frames and snaps have the time of the device");
    else log.info(clocks, "the clocks of device and hub agree again");
  }

  async #rotate(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#parts;
    const { json } = await client.ask({ method: "POST", path: "/device/rotate", signal });
    client.rotate(readRotateAnswer(json).credential);
    log.info("the device has a new credential");
  }

  async #renewToken(signal: AbortSignal): Promise<number> {
    const { client } = this.#parts;
    const { json } = await client.ask({ method: "POST", path: "/device/token", signal });
    const { token } = readTokenAnswer(json);
    client.keepToken(token);
    // Renew the token soon if a host refused the token, since the device may have been enrolled again. Ignore the
    // expiry of the token, since the device's clock may be wrong.
    await wait(TOKEN_PAUSE, signal);
    await this.#denied.heard(signal, TOKEN_EVERY);
    return 0;
  }

  /** Waits until the hub assigns a version other than the last tested one. Then applies it and reports the result. */
  async #followApplication(signal: AbortSignal): Promise<number> {
    const { client, application } = this.#parts;
    await this.#report(signal);
    const since = performance.now();
    const { etag } = application;
    const answer = await client.ask({
      path: "/device/config",
      headers: { prefer: `wait=${HOLD}`, ...(etag !== null && { "if-none-match": `"${etag}"` }) },
      signal,
      patience: HOLD_PATIENCE,
    });
    if (answer.status === 200) {
      const given = (answer.headers.get("etag") ?? "").replace(/^W\/|"/g, "");
      const desired: DesiredConfig = readDesiredConfig(answer.json);
      await application.take({ etag: given, ...desired }, client, signal);
      await this.#report(signal);
      return 0;
    }
    if (answer.status === 204) await application.take(null, client, signal);
    return Math.max(0, LEAST_HOLD - (performance.now() - since));
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { client, application, log, logs } = this.#parts;
    const { report } = application;
    if (!report) return;
    try {
      await client.ask({ method: "POST", path: "/device/report", body: report, signal });
    } catch (error) {
      if (!isFinal(error)) throw error;
      // Ignore the refusal: the hub has deleted the application meanwhile. An unwanted report must not block the next
      // one.
      log.warn({ version: report.version }, `report refused: ${messageOf(error)}`);
    }
    if (report.state === "failed") logs.failed(report.version);
    application.delivered(report.version);
  }
}
