/** The sources "folder" and "image": photos ordered by name. A watched folder waits for new photos. */
import { type Dirent, type Stats } from "node:fs";
import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "boxwright-service/errors";
import { sha256 } from "../core/ids.ts";
import { wait } from "../core/wait.ts";
import { Journal } from "./journal.ts";
import { readPicture } from "./picture.ts";
import { type Source, type SourceFrame, newStats } from "./source.ts";

const PHOTO = /\.(jpe?g|png|webp)$/i;
/** Largest number of bytes of a photo file. */
const MOST_BYTES = 256 * 2 ** 20;

/** The year 10000, in milliseconds. */
const LAST_TIME = Date.UTC(10_000, 0);

/** A photo found in the folder. */
interface Photo {
  readonly path: string;
  readonly size: number;
  /** Hash of name, size and time, which changes if the photo is replaced. */
  readonly key: string;
  readonly time: Date;
}

export interface FolderOptions {
  readonly camera: string;
  /** Path of a folder, or of one photo. */
  readonly path: string;
  readonly isWatched: boolean;
  /** Milliseconds between two scans of a watched folder. */
  readonly every?: number;
}

export class FolderSource implements Source {
  readonly camera: string;
  readonly isRecorded = true;
  readonly stats = newStats();
  problem: string | null = null;
  readonly #options: FolderOptions;
  readonly #journal: Journal;
  readonly #log: Logger;
  #waiting: Photo[] = [];
  /** Keys of the photos that this process has processed or found unreadable. */
  readonly #taken = new Set<string>();
  /**
   * Keys of the last scan. In a watched folder, a photo is read when two scans find the same key, since the file is
   * then complete.
   */
  #before = new Set<string>();
  #isListed = false;
  #isEmptyLogged = false;

  constructor(options: FolderOptions, state: string, log: Logger) {
    this.camera = options.camera;
    this.#options = options;
    this.#journal = new Journal(state, options.camera);
    this.#log = log;
  }

  async next(signal: AbortSignal): Promise<SourceFrame | null> {
    while (!signal.aborted) {
      const photo = this.#waiting.shift();
      if (photo) {
        const frame = await this.#read(photo);
        if (frame) return frame;
      } else if (!this.#isListed) {
        await this.#list();
      } else if (this.#options.isWatched) {
        await wait(this.#options.every ?? 1000, signal);
        this.#isListed = false;
      } else {
        return null;
      }
    }
    return null;
  }

  /** Clears the journal of an unwatched folder, so that the next run reads all photos again. */
  finish(): void {
    if (!this.#options.isWatched) this.#journal.clear();
  }

  close(): Promise<void> {
    this.#journal.close();
    return Promise.resolve();
  }

  async #list(): Promise<void> {
    this.#isListed = true;
    try {
      const photos = await findPhotos(this.#options);
      if (photos.length === 0 && !this.#isEmptyLogged)
        this.#log.warn({ camera: this.camera }, `no photo in ${this.#options.path}: expected JPEG, PNG or WebP files`);
      this.#isEmptyLogged = photos.length === 0;
      const keys = new Set(photos.map(({ key }) => key));
      this.#journal.removeOthers(keys);
      for (const key of this.#taken) if (!keys.has(key)) this.#taken.delete(key);
      this.#waiting = photos.filter(({ key }) => this.#isNew(key));
      this.#before = keys;
      this.problem = null;
    } catch (error) {
      this.problem = `${this.#options.path} cannot be read: ${messageOf(error)}`;
      if (!this.#options.isWatched) throw error;
    }
  }

  #isNew(key: string): boolean {
    if (this.#taken.has(key) || this.#journal.has(key)) return false;
    return !this.#options.isWatched || this.#before.has(key);
  }

  async #read({ path, size, key, time }: Photo): Promise<SourceFrame | null> {
    this.#taken.add(key);
    try {
      if (size > MOST_BYTES) throw new Error(`got ${size} bytes, expected at most ${MOST_BYTES}`);
      const image = await readPicture(await readFile(path));
      return { image, time, id: key, done: () => this.#journal.add(key) };
    } catch (error) {
      this.stats.unreadable++;
      this.#log.warn({ camera: this.camera, path }, `photo left out: ${messageOf(error)}`);
      return null;
    }
  }
}

/** Returns the photos in a folder and its subfolders. If the path names a photo, returns only this photo. */
async function findPhotos({ camera, path }: FolderOptions): Promise<Photo[]> {
  const whole = await stat(path);
  if (whole.isFile()) return [photoOf(camera, path, whole)];
  const entries: Dirent[] = await readdir(path, { recursive: true, withFileTypes: true });
  const photos: Photo[] = [];
  for (const entry of entries) {
    if (!entry.isFile() || !PHOTO.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    // Skip a photo that was deleted after the folder was listed.
    const found = await stat(file).catch(() => null);
    if (found) photos.push(photoOf(`${camera}\n${file.slice(path.length)}`, file, found));
  }
  return photos.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function photoOf(name: string, path: string, { size, mtimeMs, mtime }: Stats): Photo {
  // Limit the time to 1970..9999, as packets require. Archives set times to 0, and clocks of devices can be wrong.
  const time = mtimeMs >= 1 && mtimeMs < LAST_TIME ? mtime : new Date(1);
  return { path, size, key: sha256(`${name}\n${size}\n${mtimeMs}`).slice(0, 32), time };
}
