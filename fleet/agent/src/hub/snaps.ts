/**
 * Snaps: pictures with detections for the hub, taken by the application's rules or on request. Each snap stays on disk
 * until the hub has stored it.
 */
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { type ImageInput, type Packet, fromPacket } from "boxwright";
import { messageOf } from "boxwright-service/errors";
import { type SnapRequest, type SnapRule, readSnapAnswer } from "boxwright-service/schema/protocol";
import { SHADOW_EXTRA, SHADOW_SNAP } from "boxwright-service/schema/shadow";
import { makeFolder, replaceFile } from "../core/files.ts";
import { sha256, ulid } from "../core/ids.ts";
import { RareLog } from "../core/log.ts";
import { Bell } from "../core/wait.ts";
import type { Network, Processed, SeenFrame } from "../network/network.ts";
import type { Found as ShadowBox, ShadowDifference } from "../shadow/message.ts";
import { writeJpeg } from "../sources/picture.ts";
import type { SourceFrame } from "../sources/source.ts";
import { type HubClient, isFinal } from "./client.ts";

const HOUR = 3_600_000;
/** Largest width of a picture in pixels, and the JPEG quality. Such a picture takes about 300 kB. */
const [MOST_WIDTH, QUALITY] = [1920, 85];
/** The hub's limits of a snap: number of tags, and lengths of a tag and of an entry of `extras`. */
const [MOST_TAGS, MOST_TAG, MOST_EXTRA] = [20, 56, 100];
/** Name of a requested snap. */
const REQUESTED = "requested";

export interface SnapParts {
  readonly state: string;
  /** Largest number of bytes of snaps on disk. Above this limit, the oldest snaps are dropped. */
  readonly maxBytes: number;
  readonly network: Network;
  readonly rules: () => readonly SnapRule[];
  /** Identifier of the application in use. */
  readonly application: () => string | null;
  readonly log: Logger;
}

/** Content of a snap besides its name. */
interface SnapContent extends Pick<SnapRequest, "tags" | "extras" | "event"> {
  readonly image: ImageInput;
  readonly time: Date;
}

export class Snaps {
  /** Numbers of snaps that the hub has stored, that were dropped for lack of space, and that the hub refused. */
  readonly stats = { sent: 0, dropped: 0, refused: 0 };
  readonly #parts: SnapParts;
  readonly #folder: string;
  readonly #rare: RareLog;
  readonly #added = new Bell();
  /** Time of each rule's last snap. */
  readonly #last = new Map<string, number>();
  #isRequested = false;
  #isBusy = false;

  constructor(parts: SnapParts) {
    this.#parts = parts;
    this.#rare = new RareLog(parts.log);
    this.#folder = join(parts.state, "snaps");
    makeFolder(this.#folder);
    // Delete what a power failure has left of a snap.
    const waiting = this.#waiting();
    for (const name of readdirSync(this.#folder))
      if (!waiting.includes(name.split(".")[0]!)) rmSync(join(this.#folder, name), { force: true });
  }

  /** Requests a snap of the next frame. */
  request(): void {
    this.#isRequested = true;
  }

  /** Takes a snap of a frame if a rule matches or a snap was requested. Frames do not wait for the snap. */
  offer(camera: string, frame: SourceFrame, processed: Processed): void {
    // Take one snap at a time, since pictures are large.
    if (this.#isBusy || (!this.#isRequested && this.#openRules().length === 0)) return;
    this.#isBusy = true;
    this.#make(camera, frame, processed)
      .catch((error: unknown) => this.#rare.error({ camera }, `snap failed: ${messageOf(error)}`))
      .finally(() => (this.#isBusy = false));
  }

  /** Makes a snap of a frame on which two versions disagree. The label of each box says which version found it. */
  disagree(rollout: string, { about, image }: SeenFrame, { count, ...boxes }: ShadowDifference): void {
    const named = (found: readonly ShadowBox[], version: string): ShadowBox[] =>
      found.map((box) => ({ ...box, label: `${version}: ${box.label === "" ? box.class_id : box.label}` }));
    const changed = [0, 1].map((i) => boxes.changes.map((pair) => pair[i]!));
    const detections = [
      ...named([...boxes.onlyOld, ...changed[0]!], "old"),
      ...named([...boxes.onlyNew, ...changed[1]!], "new"),
    ];
    const { id: frame, subject, source } = about;
    const event = { specversion: "1.0", id: frame, source, type: SHADOW_SNAP, data: { detections } };
    const extras = { [SHADOW_EXTRA]: rollout, boxes: String(count), camera: (subject ?? "").slice(0, MOST_EXTRA) };
    this.#store(SHADOW_SNAP, { image, time: new Date(about.time ?? Date.now()), event, tags: [], extras }).catch(
      (error: unknown) => this.#rare.error({}, `snap failed: ${messageOf(error)}`),
    );
  }

  /**
   * Waits for a snap and sends it. Deletes the snap once the hub has stored it or refused it permanently.
   * @throws HubAwayError or HubRefusal if the same request may succeed later
   */
  async sendNext(hub: HubClient, signal: AbortSignal): Promise<void> {
    let id = this.#waiting()[0];
    // Return only after an answer of the hub, since the caller resets its backoff after each return.
    while (id === undefined) {
      await this.#added.heard(signal);
      if (signal.aborted) return;
      id = this.#waiting()[0];
    }
    try {
      await this.#send(id, hub, signal);
      this.stats.sent++;
    } catch (error) {
      if (!isFinal(error)) throw error;
      this.stats.refused++;
      this.#parts.log.error({ snap: id }, `snap refused: ${messageOf(error)}`);
    }
    this.#remove(id);
  }

  /**
   * Returns the rules that are due. The `per_hour` snaps of a rule are spread over the hour, so that the pictures
   * differ.
   */
  #openRules(): readonly SnapRule[] {
    const now = performance.now();
    return this.#parts
      .rules()
      .filter(({ name, per_hour }) => per_hour > 0 && now - (this.#last.get(name) ?? -Infinity) >= HOUR / per_hour);
  }

  async #make(camera: string, frame: SourceFrame, processed: Processed): Promise<void> {
    const { network } = this.#parts;
    const packet = await network.decoded(processed);
    const found = packet ? (fromPacket(packet).detections ?? []) : [];
    const rule = this.#openRules().find((one) => found.some((detection) => fits(one, detection)));
    if (!rule && !this.#isRequested) return;
    const labels = [...new Set(found.map(({ label }) => label).filter((label) => label !== ""))];
    const isKept = await this.#store(rule?.name ?? REQUESTED, {
      ...{ image: frame.image, time: frame.time },
      tags: labels.slice(0, MOST_TAGS).map((label) => label.slice(0, MOST_TAG)),
      extras: { camera: camera.slice(0, MOST_EXTRA), frame: frame.id.slice(0, MOST_EXTRA) },
      event: packet ? (JSON.parse(Buffer.from(packet).toString("utf8")) as Record<string, unknown>) : {},
    });
    if (!isKept) return;
    if (rule) this.#last.set(rule.name, performance.now());
    this.#isRequested = false;
  }

  /** Makes a snap, and stores it. Returns false if the snap is larger than the limit of all snaps. */
  async #store(name: string, { image, time, tags, extras, event }: SnapContent): Promise<boolean> {
    const jpeg = await writeJpeg(image, MOST_WIDTH, QUALITY);
    const snap: SnapRequest = {
      ...{ id: ulid(), name, tags, extras, event, created_at: time.toISOString() },
      application: this.#parts.application(),
      files: [
        {
          ...{ name: "frame.jpg", size: jpeg.length, sha256: sha256(jpeg) },
          ...{ content_type: "image/jpeg", classification: "image" },
        },
      ],
    };
    if (!this.#keep(snap, jpeg)) return false;
    this.#added.ring();
    return true;
  }

  /** Stores a snap. Returns false if the snap is larger than the limit of all snaps. */
  #keep(snap: SnapRequest, jpeg: Uint8Array): boolean {
    const text = JSON.stringify(snap);
    if (!this.#makeRoom(jpeg.length + text.length)) return false;
    replaceFile(this.#file(snap.id, "jpg"), jpeg);
    replaceFile(this.#file(snap.id, "json"), text);
    return true;
  }

  #makeRoom(size: number): boolean {
    const ids = this.#waiting();
    const sizes = new Map(
      ids.map((id) => [id, statSync(this.#file(id, "json")).size + statSync(this.#file(id, "jpg")).size]),
    );
    let bytes = [...sizes.values()].reduce((sum, one) => sum + one, size);
    for (const id of ids) {
      if (bytes <= this.#parts.maxBytes) break;
      this.#remove(id);
      bytes -= sizes.get(id)!;
      this.stats.dropped++;
      this.#rare.error({}, "the hub is away and hub.snapBytes is full: dropped the oldest snap");
    }
    return bytes <= this.#parts.maxBytes;
  }

  async #send(id: string, hub: HubClient, signal: AbortSignal): Promise<void> {
    const body = JSON.parse(readFileSync(this.#file(id, "json"), "utf8")) as SnapRequest;
    const { json } = await hub.ask({ method: "POST", path: "/device/snaps", body, signal });
    const { snap_id, missing } = readSnapAnswer(json);
    for (const hash of missing) {
      const file = body.files.find((one) => one.sha256 === hash);
      if (!file) continue;
      const path = `/device/snaps/${encodeURIComponent(snap_id)}/files/${hash}`;
      const headers = { "content-type": file.content_type };
      await hub.ask({ method: "PUT", path, headers, body: readFileSync(this.#file(id, "jpg")), signal });
    }
  }

  /** Returns the ids of waiting snaps, the oldest first. A power failure can leave one file of a snap alone. */
  #waiting(): string[] {
    const names = new Set(readdirSync(this.#folder));
    const ids = [...names].filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
    return ids.filter((id) => names.has(`${id}.jpg`)).sort();
  }

  #remove(id: string): void {
    for (const end of ["json", "jpg"] as const) rmSync(this.#file(id, end), { force: true });
  }

  #file(id: string, end: "json" | "jpg"): string {
    return join(this.#folder, `${id}.${end}`);
  }
}

type Found = NonNullable<Packet["detections"]>[number];

/** True if a rule wants a frame with this detection. Rules name a class by label or id. */
function fits(rule: SnapRule, { label, class_id, confidence }: Found): boolean {
  const isWanted = rule.class === undefined || rule.class === label || rule.class === String(class_id);
  return isWanted && confidence >= rule.min_confidence;
}
