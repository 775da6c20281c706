/** Keeps the last preview pictures of each camera in memory. The host does not decode them: browsers do. */
import { createHash } from "node:crypto";
import { type ImageInfo, imageInfo } from "boxwright/node";
import { messageOf } from "boxwright-service/errors";
import { KEPT_PICTURES } from "boxwright-service/schema/protocol";
import { Refusal } from "../core/errors.ts";
import { decodeHeader } from "../core/headers.ts";
import type { Metrics } from "../core/metrics.ts";
import { sortableTime } from "../core/time.ts";

export interface PreviewAbout {
  readonly source: string;
  readonly subject: string;
  /** Id of the frame that the picture shows. */
  readonly id: string;
  /** Time of capture of the frame, as `sortableTime` writes it. */
  readonly time: string;
  /** True if the frame comes from a photo or a video file. */
  readonly isRecorded: boolean;
}

export interface Preview extends PreviewAbout {
  readonly mime: ImageInfo["mime"];
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
  /**
   * Number of the preview in this process. The page requests a picture by this number, so that no cache returns an
   * older one.
   */
  readonly number: number;
  /** Time of arrival in milliseconds since 1970, by the host's clock. */
  readonly at: number;
}

export interface PreviewLimits {
  readonly maxPreviewBytes: number;
  readonly maxPreviewPixels: number;
  readonly previewsPerSecond: number;
  readonly maxCameras: number;
}

/** Largest number of bytes of all previews together. */
export const PICTURE_BYTES = 64 * 2 ** 20;
const NAME_BYTES = 512;

/** Returns the key of a camera for addresses of the page. The key is a hash, since devices choose the names. */
export const cameraKey = (source: string, subject: string): string =>
  createHash("sha256").update(`${source}\n${subject}`).digest("hex").slice(0, 24);

/**
 * Reads the attributes of a preview from its headers, which are escaped as in CloudEvents.
 * @throws Refusal if an attribute is missing or invalid
 */
export function readAttributes(header: (name: string) => string | undefined): PreviewAbout {
  const read = (name: string, isNeeded: boolean): string => {
    const value = decodeHeader(header(`ce-${name}`) ?? "");
    if (value === undefined || (isNeeded && value === "") || Buffer.byteLength(value) > NAME_BYTES || hasControl(value))
      throw new Refusal("no name", `header ce-${name}: expected text of at most ${NAME_BYTES} bytes, percent-encoded`);
    return value;
  };
  const given = { source: read("source", true), subject: read("subject", false), id: read("id", true) };
  const time = sortableTime(read("time", true));
  if (time === undefined) throw new Refusal("no name", "header ce-time: expected a time in RFC 3339");
  return { ...given, time, isRecorded: read("recorded", false) === "true" };
}

const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f-\u009f]/.test(text);

export class Previews {
  readonly #limits: PreviewLimits;
  readonly #metrics: Metrics;
  readonly #now: () => number;
  /** Previews of each camera by its key, the newest first. Cameras are ordered by their last arrivals. */
  readonly #all = new Map<string, readonly Preview[]>();
  #bytes = 0;
  #count = 0;
  /** Called with each new picture. */
  onPreview: (preview: Preview) => void = () => undefined;

  constructor(limits: PreviewLimits, metrics: Metrics, now: () => number) {
    this.#limits = limits;
    this.#metrics = metrics;
    this.#now = now;
  }

  /** Returns the pictures of a camera, the newest first. */
  get(key: string): readonly Preview[] {
    return this.#all.get(key) ?? [];
  }

  /**
   * Stores a picture. For a live camera, replaces the last one.
   * @throws Refusal if the file is too large, is no picture, or came too soon
   */
  take(about: PreviewAbout, bytes: Uint8Array): void {
    const { maxPreviewBytes, previewsPerSecond } = this.#limits;
    if (bytes.length > maxPreviewBytes)
      throw new Refusal("too large", `picture: got ${bytes.length} bytes, expected at most ${maxPreviewBytes}`);
    const info = this.#infoOf(bytes);
    const key = cameraKey(about.source, about.subject);
    const now = this.#now();
    const [last] = this.get(key);
    if (last && now - last.at < 1000 / previewsPerSecond)
      throw new Refusal(
        "rate",
        `picture: got one ${now - last.at} ms after the last, expected at most ${previewsPerSecond} a second`,
      );
    const { mime, width, height } = info;
    const preview: Preview = { ...about, mime, width, height, bytes, number: ++this.#count, at: now };
    this.#keep(key, preview);
    this.#metrics.previews.inc();
    this.onPreview(preview);
  }

  /**
   * Reads type and size of a picture from its first bytes. Refuses a small file that states a huge size (a picture
   * bomb).
   */
  #infoOf(bytes: Uint8Array): ImageInfo {
    const { maxPreviewPixels } = this.#limits;
    let info: ImageInfo;
    try {
      info = imageInfo(bytes, "picture");
    } catch (error) {
      throw new Refusal("picture", messageOf(error));
    }
    if (info.width * info.height > maxPreviewPixels)
      throw new Refusal(
        "picture",
        `picture: got ${info.width} x ${info.height} pixels, expected at most ${maxPreviewPixels} in all`,
      );
    return info;
  }

  #keep(key: string, preview: Preview): void {
    const before = this.get(key);
    // Replace the earlier picture if the same photo was sent again.
    const others = before.filter(({ id }) => id !== preview.id);
    const kept = [preview, ...others].slice(0, preview.isRecorded ? KEPT_PICTURES : 1);
    this.#all.delete(key);
    this.#all.set(key, kept);
    this.#bytes += bytesOf(kept) - bytesOf(before);
    for (const [oldKey, old] of this.#all) {
      if (this.#all.size <= this.#limits.maxCameras && this.#bytes <= PICTURE_BYTES) return;
      this.#all.delete(oldKey);
      this.#bytes -= bytesOf(old);
      this.#metrics.previewsDropped.inc();
      this.#metrics.totals.previewsDropped++;
    }
  }
}

const bytesOf = (previews: readonly Preview[]): number => previews.reduce((sum, { bytes }) => sum + bytes.length, 0);
