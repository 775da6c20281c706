/**
 * Updates of the agent: fetches the version that the hub wants, checks the signature, unpacks the archive, and asks the
 * launcher to try this version. Reports the result to the hub.
 */
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import type { ConfigReport, Problem } from "boxwright-service/schema/protocol";
import {
  compareVersions,
  readDesiredAgent,
  type Release,
  ReleaseError,
  releaseId,
  type SignedRelease,
  verifyRelease,
} from "boxwright-service/release";
import { machine } from "../core/machine.ts";
import { Bell } from "../core/wait.ts";
import type { Parent } from "../launcher/parent.ts";
import { type HubClient, asAway, isFinal } from "./client.ts";
import { ModelError, Models } from "./models.ts";
import { ArchiveError, unpack } from "./unpack.ts";

export interface UpdateParts {
  readonly state: string;
  /** Public keys that may sign a version. */
  readonly keys: readonly string[];
  /** The launcher; null if no launcher started this agent, so that no other version can be tried. */
  readonly launcher: Parent | null;
  readonly log: Logger;
  /** Called after the hub has learned that a version failed. */
  readonly onFailed: (version: string) => void;
}

const PLATFORM = `${process.platform}-${process.arch}`;
const NO_LAUNCHER =
  "this agent runs without its launcher, so it cannot start another version. In a container, run an image of that " +
  "version; as a service, start boxwright-agent-launcher";

/** Error: this device refuses a release. The code goes into the report to the hub. */
class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class Updates {
  readonly #parts: UpdateParts;
  readonly #archives: Models;
  readonly #changed = new Bell();
  #wanted: string | null = null;
  /** ETag of the release whose result was reported. */
  #settled: string | null = null;

  constructor(parts: UpdateParts) {
    this.#parts = parts;
    this.#archives = new Models(parts.state, "archives");
  }

  /** Records the release that the last heartbeat's answer named; null if it named none. */
  want(etag: string | null): void {
    this.#wanted = etag;
    if (etag !== null && etag !== this.#settled) this.#changed.ring();
  }

  /** Makes the report on the release due again: a restored hub does not know what it was told after its backup. */
  forgetReport(): void {
    this.#settled = null;
  }

  /**
   * Waits for a release that the hub wants, and tries it.
   * @throws HubAwayError or HubRefusal if the same request may succeed later
   */
  async followNext(hub: HubClient, signal: AbortSignal): Promise<void> {
    if (this.#wanted === null || this.#wanted === this.#settled) await this.#changed.heard(signal);
    const wanted = this.#wanted;
    if (signal.aborted || wanted === null || wanted === this.#settled) return;
    const { status, json } = await hub.ask({ path: "/device/agent", signal });
    if (status !== 200) return;
    const result = await this.#follow(json, hub, signal);
    if (result === null) return;
    try {
      await hub.ask({ method: "POST", path: "/device/report", body: result, signal });
    } catch (error) {
      // Ignore the refusal: the hub has deleted the release meanwhile.
      if (!isFinal(error)) throw error;
    }
    if (result.state === "failed") this.#parts.onFailed(result.version);
    this.#settled = wanted;
  }

  /** Returns a report, or null while a version is on trial. */
  async #follow(json: unknown, hub: HubClient, signal: AbortSignal): Promise<ConfigReport | null> {
    let etag = "";
    try {
      const desired = readDesiredAgent(json);
      etag = desired.etag;
      return (await this.#try(desired.signed, hub, signal)) ? { version: etag, state: "applied" } : null;
    } catch (error) {
      if (etag === "") throw error;
      const problem = problemOf(error);
      if (problem === null) throw asAway(error);
      this.#parts.log.error({ release: etag }, `update refused: ${problem.message}`);
      return { version: etag, state: "failed", error: problem };
    }
  }

  /** Tries a release. Returns true if this device runs the release and keeps it, false while a release is on trial. */
  async #try(signed: SignedRelease, hub: HubClient, signal: AbortSignal): Promise<boolean> {
    const { launcher, log, keys } = this.#parts;
    const id = releaseId(signed);
    // Check the running release too, so that no unsigned release counts as applied.
    const release = this.#check(signed, keys);
    if (release.version === machine.version) return launcher?.state.trial == null;
    if (!launcher) throw new Refused("no_launcher", NO_LAUNCHER);
    const { trial, failed } = launcher.state;
    if (trial) return false;
    if (failed?.id === id) throw new Refused(failed.code, failed.message);
    if (compareVersions(release.version, machine.version) < 0)
      throw new Refused(
        "older",
        `got ${release.version}, expected a version above ${machine.version}, which runs here. To go back, sign what ` +
          "the older version holds under a new number",
      );
    log.info({ version: release.version }, "fetches a new version of the agent");
    await this.#archives.fetch(hub, release, signal);
    if (signal.aborted) return false;
    await unpack(this.#archives.pathOf(release), launcher.versions, release);
    this.#archives.keepOnly(new Set());
    log.info({ version: release.version }, "asks the launcher to try a new version of the agent");
    launcher.switchTo({ version: release.version, id });
    return false;
  }

  #check(signed: SignedRelease, keys: readonly string[]): Release {
    if (keys.length === 0)
      throw new Refused("no_key", "this device trusts no key for updates. Its settings name them: update.keys");
    const release = verifyRelease(signed, keys);
    if (release.platform !== PLATFORM)
      throw new Refused("platform", `got an archive for ${release.platform}, expected one for ${PLATFORM}`);
    return release;
  }
}

/** Returns the problem to report to the hub; null for a temporary error, such as a full disk. */
function problemOf(error: unknown): Problem | null {
  const message = messageOf(error).slice(0, 1000);
  if (error instanceof Refused) return { code: error.code, message };
  if (error instanceof ReleaseError) return { code: "signature", message };
  if (error instanceof ModelError || error instanceof ArchiveError) return { code: "archive", message };
  if (isFinal(error)) return { code: "refused", message };
  return null;
}
