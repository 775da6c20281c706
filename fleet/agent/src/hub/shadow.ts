/**
 * Runs a shadow for the hub: decodes some frames with another version than the one in use, and reports with each
 * heartbeat how far both versions agree. A shadow changes nothing else that the agent sends.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import type { Problem } from "boxwright-service/schema/protocol";
import { type DesiredShadow, type ShadowReport, readDesiredShadow } from "boxwright-service/schema/shadow";
import { readIfThere, replaceFile } from "../core/files.ts";
import { Bell } from "../core/wait.ts";
import type { SeenFrame } from "../network/network.ts";
import type { NetworkSettings } from "../settings/schema.ts";
import type { ShadowDifference, ShadowVersion } from "../shadow/message.ts";
import { Runner } from "../shadow/runner.ts";
import { type ShadowFrame, Summary } from "../shadow/summary.ts";
import type { Application } from "./application.ts";
import { type HubClient, asAway, isFinal } from "./client.ts";
import { ModelError, Models } from "./models.ts";

/** Largest number of snaps of one shadow. Each snap shows more disagreement than the earlier ones. */
const MOST_SNAPS = 10;
const SOON = 1000;

export interface ShadowParts {
  readonly state: string;
  readonly application: Application;
  readonly settings: Pick<NetworkSettings, "threads" | "providers">;
  /** Makes a snap of a frame on which the versions disagree. */
  readonly onDisagreement: (rollout: string, seen: SeenFrame, difference: ShadowDifference) => void;
  readonly log: Logger;
}

/** A running shadow. */
interface Task {
  readonly desired: DesiredShadow;
  readonly summary: Summary;
  /** Number of snaps so far, and largest number of differing boxes in the frame of a snap. */
  readonly snaps: { count: number; largest: number };
}

export class Shadow {
  readonly #parts: ShadowParts;
  readonly #path: string;
  /** Models of versions in the shadow, apart from those of the version in use. */
  readonly #models: Models;
  readonly #changed = new Bell();
  #wanted: string | null = null;
  /** Mark of the last task that was begun: the field `shadow` of a heartbeat's answer. */
  #followed: string | null = null;
  #task: Task | null = null;
  #runner: Runner | null = null;
  /** Hash of the config with which the shadow's process decodes for the version in use. */
  #record: string | null = null;
  /** JSON of the report that was stored last. */
  #kept = "";
  #isClosed = false;

  constructor(parts: ShadowParts) {
    this.#parts = parts;
    this.#path = join(parts.state, "shadow.json");
    this.#models = new Models(parts.state, "shadow-models");
  }

  /**
   * Returns the report for the next heartbeat, or null without a shadow. Stores the report, so that a restart continues
   * it.
   */
  keepReport(): ShadowReport | null {
    const report = this.#task?.summary.report ?? null;
    const text = JSON.stringify(report);
    // Write only a changed report: a shadow that has ended, or gets no frames, repeats its report with every heartbeat.
    if (report !== null && text !== this.#kept) replaceFile(this.#path, text);
    this.#kept = text;
    return report;
  }

  /** Records the mark of the shadow that the hub wants, from the answer to a heartbeat; null if the hub wants none. */
  want(mark: string | null): void {
    this.#wanted = mark;
    if (mark !== this.#followed) this.#changed.ring();
  }

  /**
   * Waits until the hub wants a shadow, and begins it.
   * @throws HubAwayError or HubRefusal if the same request may succeed later
   */
  async followNext(hub: HubClient, signal: AbortSignal): Promise<void> {
    // Return only after an answer of the hub, since the caller resets its backoff after each return.
    const { application } = this.#parts;
    while (this.#wanted === null || this.#wanted === this.#followed || application.current === null) {
      if (this.#wanted === null) this.#leave();
      // The version in use and its model may still be downloading. Wait for them.
      await this.#changed.heard(signal, application.current === null ? SOON : undefined);
      if (signal.aborted) return;
    }
    const wanted = this.#wanted;
    const { status, json } = await hub.ask({ path: "/device/shadow", signal });
    // The hub no longer wants this shadow. The answer to the next heartbeat names the next task.
    if (status !== 200) return;
    await this.#begin(readDesiredShadow(json), hub, signal);
    this.#followed = wanted;
  }

  /** Offers a frame to the shadow's process, which compares every Nth one. Called while the frame's outputs exist. */
  readonly see = (seen: SeenFrame): void => {
    const { application, settings } = this.#parts;
    const [task, current] = [this.#task, application.current];
    if (
      this.#isClosed ||
      task === null ||
      task.summary.isOver ||
      current === null ||
      current.etag !== task.desired.against
    )
      return;
    const { record } = seen.plan;
    if (record === null) return this.#fail({ code: "config", message: "nothing says how to decode what runs here" });
    if (this.#runner === null || this.#record !== record.hash) {
      this.#runner?.close();
      this.#record = record.hash;
      this.#runner = new Runner({
        start: { settings, record: record.json, old: application.versionOf(current), next: this.#next(task.desired) },
        every: task.desired.every,
        onCompared: (frame, difference, of) => this.#compared(task, frame, difference, of),
        onFailed: (problem) => this.#fail(problem),
      });
    }
    this.#runner.offer(seen);
  };

  /** Ends the process of the shadow. No other process is started. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #stop(): void {
    this.#runner?.close();
    this.#runner = null;
  }

  async #begin(desired: DesiredShadow, hub: HubClient, signal: AbortSignal): Promise<void> {
    const { rollout, etag: version, against } = desired;
    this.#stop();
    const summary = new Summary({ rollout, version, against }, readIfThere(this.#path));
    this.#task = { desired, summary, snaps: { count: 0, largest: 0 } };
    const { model } = desired.version;
    const { current } = this.#parts.application;
    this.#parts.log.info({ rollout, version }, "compares a version in shadow of the one in use");
    if (model === null) return this.#fail({ code: "model", message: "the version has no model file" });
    if (current?.etag === against && model.sha256 === current.model?.sha256) return;
    try {
      await this.#models.fetch(hub, model, signal);
      this.#models.keepOnly(new Set([model.sha256]));
    } catch (error) {
      if (error instanceof ModelError || isFinal(error))
        return this.#fail({ code: "model", message: messageOf(error).slice(0, 1000) });
      this.#task = null;
      throw asAway(error);
    }
  }

  #next({ version }: DesiredShadow): ShadowVersion {
    const { config, options, model } = version;
    const { current } = this.#parts.application;
    const isSame = current !== null && model!.sha256 === current.model?.sha256;
    const path = isSame ? this.#parts.application.versionOf(current).model.path : this.#models.pathOf(model!);
    return { config, options, model: { sha256: model!.sha256, path } };
  }

  #compared(task: Task, frame: ShadowFrame, difference: ShadowDifference, seen: SeenFrame): void {
    task.summary.add(frame);
    const { snaps } = task;
    if (!task.desired.snaps || difference.count <= snaps.largest || snaps.count >= MOST_SNAPS) return;
    snaps.largest = difference.count;
    snaps.count++;
    this.#parts.onDisagreement(task.desired.rollout, seen, difference);
  }

  #fail(problem: Problem): void {
    this.#task?.summary.fail(problem);
    this.#stop();
    this.#parts.log.warn({ code: problem.code }, `the version in shadow failed: ${problem.message}`);
  }

  /** Ends the shadow, since the hub no longer wants one. */
  #leave(): void {
    this.#followed = null;
    if (this.#task === null) return;
    this.#stop();
    this.#task = null;
    rmSync(this.#path, { force: true });
    this.#kept = "";
    this.#models.keepOnly(new Set());
  }
}
