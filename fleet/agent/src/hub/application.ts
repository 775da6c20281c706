/**
 * The application that the hub assigns: config, options and model. The agent stores it in the state folder, and tests
 * it before use like a changed config file. If the test fails, the last good application stays in use.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ConfigReport, DesiredConfig, Problem } from "boxwright-service/schema/protocol";
import { readIfThere, replaceFile } from "../core/files.ts";
import { type ConfigSource, type ConfigState, LiveConfig, type NetworkChooser } from "../network/live-config.ts";
import type { Network } from "../network/network.ts";
import type { NetworkPlan } from "../network/plan.ts";
import type { ShadowVersion } from "../shadow/message.ts";
import { isObject } from "boxwright-service/schema/json";
import { type HubClient, asAway, isFinal } from "./client.ts";
import { ModelError, Models } from "./models.ts";

/** A stored application, with the ETag of its version. */
export interface Kept extends DesiredConfig {
  readonly etag: string;
}

/** State of the application, as heartbeats report it. */
export interface Reported {
  readonly identifier: string | null;
  readonly version: string | null;
  readonly state: "applied" | "failed" | "none";
  readonly error?: Problem;
}

export interface ApplicationParts {
  readonly state: string;
  readonly network: Network;
  /** The operator's config files, used while the hub assigns nothing; null if there are none. */
  readonly files: LiveConfig | null;
  readonly log: Logger;
}

export class Application implements NetworkChooser {
  readonly #parts: ApplicationParts;
  readonly #path: string;
  readonly #models: Models;
  readonly #live: LiveConfig;
  /** The version that was tested last, in use or not. Null if the hub assigns none. */
  #tried: { readonly etag: string; readonly identifier: string } | null = null;
  #isReported = false;
  /** The application in use; null if there is none. */
  current: Kept | null = null;

  constructor(parts: ApplicationParts) {
    this.#parts = parts;
    this.#path = join(parts.state, "application.json");
    this.#models = new Models(parts.state);
    this.#live = new LiveConfig(this.#source(), parts.state, parts.log);
  }

  /** State of the network in use: the hub's application, or the files of the operator. */
  get state(): ConfigState {
    return this.#active?.state ?? { state: "none", error: null, applied: 0, failed: 0 };
  }

  /** ETag of the version that was tested last. */
  get etag(): string | null {
    return this.#tried?.etag ?? null;
  }

  get reported(): Reported {
    if (!this.#tried) return { identifier: null, version: null, state: "none" };
    const { etag: version, identifier } = this.#tried;
    const { state, error } = this.#live.state;
    return { identifier, version, state, ...(error !== null && { error: problemOf(error) }) };
  }

  /** Returns config, options and model file of an application. */
  versionOf({ config, options, model }: Kept): ShadowVersion {
    return { config, options, model: { sha256: model!.sha256, path: this.#models.pathOf(model!) } };
  }

  prove(plan: NetworkPlan): void {
    this.#active?.prove(plan);
  }

  /** Applies the stored application, or the operator's files. Without both, the network waits for the hub. */
  async start(): Promise<void> {
    const kept = readKept(readIfThere(this.#path));
    if (kept) this.#tried = { etag: kept.etag, identifier: kept.application.identifier };
    try {
      if (kept && (await this.#live.start())) return;
    } catch (error) {
      // Continue without the application. The report informs the hub, which may assign another.
      this.#live.refuse(error);
    }
    await this.#useFiles();
  }

  /**
   * Tests and applies the application that the hub assigns.
   * @param desired the assigned application; null if none is assigned
   * @throws HubAwayError if the model cannot be fetched now
   */
  async take(desired: Kept | null, hub: HubClient, signal: AbortSignal): Promise<void> {
    if (desired === null) return this.#leave();
    const { etag, application, model } = desired;
    try {
      if (model) await this.#models.fetch(hub, model, signal);
    } catch (error) {
      if (!(error instanceof ModelError) && !isFinal(error)) throw asAway(error);
      this.#note(etag, application.identifier);
      return this.#live.refuse(error);
    }
    replaceFile(this.#path, JSON.stringify(desired));
    this.#note(etag, application.identifier);
    await this.#live.look();
    this.#forgetModels();
  }

  /** Returns the report on the version that was tested last, or null after the hub has received it. */
  get report(): ConfigReport | null {
    const { version, state, error } = this.reported;
    if (this.#isReported || version === null || state === "none") return null;
    return { version, state, ...(error && { error }) };
  }

  /** Records that the hub has received the report on this version. */
  delivered(version: string): void {
    if (version === this.etag) this.#isReported = true;
  }

  /** Makes the report due again: a restored hub does not know what it was told after its backup. */
  forgetReport(): void {
    this.#isReported = false;
  }

  close(): void {
    this.#live.close();
    this.#parts.files?.close();
  }

  get #active(): LiveConfig | null {
    return this.#tried ? this.#live : this.#parts.files;
  }

  #note(etag: string, identifier: string): void {
    this.#tried = { etag, identifier };
    this.#isReported = false;
    // Stop watching the operator's files until the hub withdraws the application.
    this.#parts.files?.close();
  }

  /** Drops the application, since the hub no longer assigns one. Uses the operator's files if there are any. */
  async #leave(): Promise<void> {
    if (!this.#tried) return;
    this.#tried = null;
    this.#isReported = false;
    this.current = null;
    rmSync(this.#path, { force: true });
    this.#live.forget();
    this.#models.keepOnly(new Set());
    this.#parts.log.info("the hub gives this device no application");
    await this.#parts.network.clear();
    await this.#useFiles();
  }

  async #useFiles(): Promise<void> {
    const { files, network, log } = this.#parts;
    if (files && (await files.start())) files.watch();
    else if (network.plan === null) log.info("frames wait until the hub gives this device an application");
  }

  #forgetModels(): void {
    const texts = [readIfThere(this.#path), this.#live.good];
    const hashes = texts.map((text) => readKept(text)?.model?.sha256).filter((hash) => hash !== undefined);
    this.#models.keepOnly(new Set(hashes));
  }

  #source(): ConfigSource {
    const { network } = this.#parts;
    return {
      name: "application",
      place: this.#path,
      read: () => {
        const text = readIfThere(this.#path);
        return text === null ? null : { text, id: text };
      },
      use: async (text) => {
        const kept = readKept(text);
        if (!kept) throw new Error(`${this.#path} is damaged`);
        const { application, config, options, model } = kept;
        if (model === null)
          throw new Error(`application ${application.name}: it has no model file, and an agent needs one`);
        const named = { modelId: model.sha256, modelName: model.name, read: () => this.#models.read(model) };
        await network.choose({ ...named, config: config ?? undefined, options });
        this.current = kept;
        return network.plan!;
      },
    };
  }
}

/** Parses a stored application. Returns null if the text is invalid. */
function readKept(text: string | null): Kept | null {
  try {
    const json: unknown = JSON.parse(text ?? "null");
    return isObject(json) && typeof json["etag"] === "string" ? (json as unknown as Kept) : null;
  } catch {
    return null;
  }
}

function problemOf(message: string): Problem {
  const code = /^the process ended/.test(message) ? "crashed" : /^model /.test(message) ? "model" : "config";
  return { code, message: message.slice(0, 1000) };
}
