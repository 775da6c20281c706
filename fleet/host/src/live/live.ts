/** Makes the page's view of each camera: its counts, its last picture, and the boxes of that picture. */
import { type Queries } from "boxwright-service/database";
import { CLOCK_SLACK_MS, type StoredFrame } from "../store/frames.ts";
import {
  type CameraRow,
  type FleetTotals,
  arrivalInterval,
  cameras,
  fleetTotals,
  frameById,
  frameByTime,
  missingOf,
} from "../store/query.ts";
import { type Preview, type Previews, cameraKey } from "./previews.ts";

/** Largest number of boxes that the page draws on a picture. */
const MOST_BOXES = 300;
/** Milliseconds from capture to storing above which the page shows an age, since a latency would mislead. */
const OLD_MS = 24 * 3_600_000;
/** Milliseconds for which missing detections of a picture are looked up again: raw frames may wait in a spool. */
const PATIENCE_MS = 60_000;
const REFRESH_MS = 500;

/** A picture, and the boxes of the same frame, which was captured at `time`. */
export interface PictureView {
  readonly id: string;
  readonly time: string;
  /** Number of the preview. Null without a picture: the page draws the boxes on an empty area of this size. */
  readonly preview: number | null;
  readonly width: number;
  readonly height: number;
  /** Detections of the frame; null if the frame is not stored yet. */
  readonly detections: readonly unknown[] | null;
  /** Number of all detections. `detections` holds the first MOST_BOXES. */
  readonly count: number;
  /** True if boxes are relative to the network's input, since the packet did not state the image size. */
  readonly isUnplaced: boolean;
}

export interface CameraView {
  readonly key: string;
  readonly source: string;
  /** Name of the device in its hub; null if unknown. */
  readonly name: string | null;
  readonly subject: string;
  readonly frames: number;
  readonly detections: number;
  readonly missing: number | null;
  /**
   * Milliseconds from capture to storing. Null without a frame, for a recorded frame, or if the device's clock is
   * ahead.
   */
  readonly latency: number | null;
  /** Milliseconds from capture to storing if a live frame is older than OLD_MS; else null. */
  readonly age: number | null;
  /** Milliseconds by which the device's clock is ahead; null if less than CLOCK_SLACK_MS. */
  readonly clockAhead: number | null;
  /** Milliseconds since the last frame arrived, by the host's clock. */
  readonly silence: number | null;
  /** Mean milliseconds between the arrivals of the last frames. */
  readonly interval: number | null;
  readonly lastTime: string | null;
  readonly picture: PictureView | null;
  /** Earlier pictures of a recorded camera, the newest first. Empty for live cameras. */
  readonly strip: readonly PictureView[];
  /** True if the last picture comes from a photo or a video file. */
  readonly isRecorded: boolean;
}

interface Entry {
  readonly view: Omit<CameraView, "silence">;
  /** Milliseconds since 1970 at which the last frame arrived. */
  readonly storedAt: number | null;
  /** Text that changes with the content of the view. If the text differs, the view is sent again. */
  readonly state: string;
  readonly version: number;
}

export interface LiveOptions {
  readonly db: Queries;
  readonly previews: Previews;
  readonly maxCameras: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export class Live {
  readonly #options: LiveOptions;
  readonly #entries = new Map<string, Entry>();
  /** Cameras with a preview, which may have no stored frame yet. */
  readonly #seen = new Map<string, { readonly source: string; readonly subject: string }>();
  /** Counts over all cameras of all hosts that use the database. */
  totals: FleetTotals = { cameras: 0, frames: 0, detections: 0 };
  #version = 0;
  #viewers = 0;
  #timer: NodeJS.Timeout | null = null;
  #waiters: (() => void)[] = [];

  constructor(options: LiveOptions) {
    this.#options = options;
    options.previews.onPreview = ({ source, subject }) => {
      const key = cameraKey(source, subject);
      this.#seen.delete(key);
      this.#seen.set(key, { source, subject });
      if (this.#seen.size > options.maxCameras) this.#seen.delete(this.#seen.keys().next().value!);
    };
  }

  get viewers(): number {
    return this.#viewers;
  }

  /** Reads the database every REFRESH_MS while at least one page watches. Returns a function that ends this watch. */
  watch(): () => void {
    this.#viewers++;
    this.#timer ??= setTimeout(() => void this.#tick(), 0);
    return () => void this.#viewers--;
  }

  /** Waits for changes after a version, at most `patience` milliseconds. Returns the changed cameras. */
  async changes(
    since: number,
    patience: number,
  ): Promise<{ readonly version: number; readonly cameras: CameraView[] }> {
    if (this.#version <= since)
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, patience).unref();
        this.#waiters.push(() => {
          clearTimeout(late);
          resolve();
        });
      });
    const changed = [...this.#entries.values()].filter(({ version }) => version > since);
    const now = this.#options.now();
    const silenceOf = ({ storedAt }: Entry): number | null => (storedAt === null ? null : Math.max(0, now - storedAt));
    const views = changed.map((entry) => ({ ...entry.view, silence: silenceOf(entry) }));
    return { version: this.#version, cameras: views };
  }

  async #tick(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#options.onError(error);
    }
    this.#timer = this.#viewers > 0 ? setTimeout(() => void this.#tick(), REFRESH_MS) : null;
  }

  /** Updates the views. */
  async refresh(): Promise<void> {
    const { db, maxCameras } = this.#options;
    this.totals = await fleetTotals(db);
    const rows = new Map((await cameras(db, maxCameras)).map((row) => [cameraKey(row.source, row.subject), row]));
    const names = new Map<string, { readonly source: string; readonly subject: string }>([...this.#seen, ...rows]);
    let changed = false;
    for (const [key, { source, subject }] of names)
      changed = (await this.#update(key, source, subject, rows.get(key))) || changed;
    for (const key of this.#entries.keys()) if (!names.has(key)) this.#entries.delete(key);
    if (!changed) return;
    this.#version++;
    for (const wake of this.#waiters.splice(0)) wake();
  }

  async #update(key: string, source: string, subject: string, row: CameraRow | undefined): Promise<boolean> {
    const { previews, now } = this.#options;
    const pictures = previews.get(key);
    const [preview] = pictures;
    const old = this.#entries.get(key);
    const before = old ? [old.view.picture, ...old.view.strip] : [];
    const placed = new Map(before.flatMap((view) => (view?.detections ? [[view.preview, view]] : [])));
    const isAwaited = pictures.some(({ number, at }) => !placed.has(number) && now() - at < PATIENCE_MS);
    const state = `${row?.frames} ${row?.last_id} ${preview?.number} ${row?.name}`;
    if (old?.state === state && !isAwaited) return false;
    const views: PictureView[] = [];
    for (const one of pictures) views.push(placed.get(one.number) ?? (await this.#pictureOf(one)));
    const isNews = views.some(({ preview: number, detections }) => detections && !placed.has(number));
    if (old?.state === state && !isNews) return false;
    const picture = views[0] ?? (await this.#boxesWithoutPicture(row));
    const isRecorded = preview?.isRecorded === true;
    const isOld = (row?.latency ?? 0) > OLD_MS;
    const isAhead = row !== undefined && row.latency < -CLOCK_SLACK_MS;
    const view = {
      key,
      source,
      name: row?.name ?? null,
      subject,
      frames: row?.frames ?? 0,
      detections: row?.detections ?? 0,
      missing: row ? missingOf(row) : null,
      latency: isAhead || isRecorded || isOld ? null : (row?.latency ?? null),
      age: isOld && !isRecorded ? row!.latency : null,
      clockAhead: isAhead ? -row.latency : null,
      interval: row ? await arrivalInterval(this.#options.db, source, subject) : null,
      lastTime: row?.last_time ?? null,
      picture,
      strip: views.slice(1),
      isRecorded,
    };
    this.#entries.set(key, { view, storedAt: row?.stored_at ?? null, state, version: this.#version + 1 });
    return true;
  }

  /** Returns a preview with the detections of its frame. Finds the frame by id, or else by time of capture. */
  async #pictureOf(preview: Preview): Promise<PictureView> {
    const { db } = this.#options;
    const { source, subject, id, time, number, width, height } = preview;
    const named = await frameById(db, source, id);
    const frame = named?.subject === subject ? named : await frameByTime(db, source, subject, time);
    return { id, time, preview: number, width, height, ...boxesOf(frame) };
  }

  /** Returns the boxes of the newest frame on an empty area, for a camera without previews. */
  async #boxesWithoutPicture(row: CameraRow | undefined): Promise<PictureView | null> {
    const frame = row && (await frameById(this.#options.db, row.source, row.last_id));
    if (!frame) return null;
    const [width, height] = sizeOf(frame);
    return { id: frame.id, time: frame.time, preview: null, width, height, ...boxesOf(frame) };
  }
}

function boxesOf(frame: StoredFrame | undefined): Pick<PictureView, "detections" | "count" | "isUnplaced"> {
  if (!frame) return { detections: null, count: 0, isUnplaced: false };
  const all = JSON.parse(frame.detections) as unknown[];
  return { detections: all.slice(0, MOST_BOXES), count: frame.count, isUnplaced: frame.frame === null };
}

/** Returns the size of an empty area: the frame's aspect ratio, with a longer side of 640 pixels. */
function sizeOf({ frame }: StoredFrame): [number, number] {
  const { width = 1, height = 1 } = (frame === null ? {} : JSON.parse(frame)) as { width?: number; height?: number };
  const scale = 640 / Math.max(width, height);
  return [Math.max(16, Math.round(width * scale)), Math.max(16, Math.round(height * scale))];
}
