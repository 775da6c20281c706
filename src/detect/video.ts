/**
 * Reads the pixels of a video frame through WebCodecs, without a canvas. The frame is a `VideoFrame`, or the current
 * frame of a `<video>`. `PixelReader` draws on its canvas instead if the browser lacks WebCodecs, or if the frame is
 * rotated or scaled.
 */
import { FRAME_MEMORIES, type FrameMemory, type ImageFormat, type ImageInput } from "../decode/prepare.ts";

/** The members of a WebCodecs frame that are used here. */
interface VideoPicture {
  readonly format: string | null;
  readonly displayWidth: number;
  readonly displayHeight: number;
  readonly visibleRect: { readonly width: number; readonly height: number } | null;
  readonly colorSpace: { readonly matrix: string | null; readonly fullRange: boolean | null };
  readonly rotation?: number;
  readonly flip?: boolean;
  allocationSize(options?: object): number;
  copyTo(to: Uint8Array, options?: object): Promise<readonly { readonly stride: number }[]>;
  close(): void;
}

/** The members of a `<video>` that are used here. */
interface Video {
  readonly videoWidth: number;
  readonly videoHeight: number;
  readonly seeking?: boolean;
  addEventListener?(name: string, listener: () => void, options: { readonly once: true }): void;
}

/** WebCodecs' names of the colour matrix BT.601, the only one with which the kernel converts planes. */
const BT601: readonly unknown[] = ["smpte170m", "bt470bg"];

/** Options that ask for RGBA. A browser that cannot convert never reads `format`, and would copy the planes. */
class AsRgba {
  isFormatRead = false;
  readonly colorSpace = "srgb";

  get format(): string {
    this.isFormatRead = true;
    return "RGBA";
  }
}

/** Reads frames into one memory, which the next frame overwrites. */
export class VideoReader {
  readonly #memory: FrameMemory = { bytes: new Uint8Array(0), kept: null };
  readonly #asRgba = new AsRgba();
  #last: ImageInput = { data: this.#memory.bytes, width: 0, height: 0 };
  /** False after the browser failed to read a frame. Then every frame is drawn on a canvas. */
  #works = true;

  /** Returns the pixels of a frame, or of a video's current frame. Returns null if only a canvas can read them. */
  async read(image: object): Promise<ImageInput | null> {
    if (isVideo(image) && image.seeking) await endOfSeeking(image);
    const { VideoFrame: Open } = globalThis as { VideoFrame?: new (video: object) => VideoPicture };
    if (!Open || !this.#works) return null;
    let opened: VideoPicture | null = null;
    try {
      const video = isVideo(image) ? image : null;
      if (video && !hasFrame(video)) return null;
      const frame = video ? (opened = new Open(video)) : (image as VideoPicture);
      return isWhole(frame, video) ? await this.#copy(frame) : null;
    } catch {
      this.#works = false;
      return null;
    } finally {
      // Close only a frame that was opened here. A `VideoFrame` of the caller stays open.
      opened?.close();
    }
  }

  async #copy(frame: VideoPicture): Promise<ImageInput | null> {
    const { displayWidth: width, displayHeight: height } = frame;
    const format = formatOf(frame);
    // Let the browser convert every frame for which `formatOf` returns "rgba".
    const options = format === "rgba" ? this.#asRgba : {};
    const size = frame.allocationSize(options);
    if (format === "rgba" && !this.#asRgba.isFormatRead) return null;
    const memory = this.#memory;
    const { width: lastWidth, height: lastHeight, format: lastFormat } = this.#last;
    // A second frame of the same size and format means a stream. Then let the kernel reserve memory for its frames.
    if (lastWidth === width && lastHeight === height && lastFormat === format)
      FRAME_MEMORIES.set(memory.bytes, memory);
    else Object.assign(memory, { bytes: new Uint8Array(size), kept: null });
    const data = memory.bytes;
    const [{ stride }] = await frame.copyTo(data, options);
    this.#last = { data, width, height, format, stride };
    return this.#last;
  }
}

const isVideo = (image: object): image is Video => "videoWidth" in image;

/** True unless a `<video>` has no frame yet. */
export const hasFrame = (video: object): boolean => !("readyState" in video) || Number(video.readyState) >= 2;

/** Waits until a video has reached its new position, or has failed. While it seeks, the video has no frame. */
const endOfSeeking = (video: Video): Promise<void> =>
  new Promise((resolve) => {
    for (const name of ["seeked", "emptied", "error"])
      video.addEventListener?.(name, resolve, { once: true });
  });

/** True if the frame's bytes are the picture that the page shows: not rotated, flipped, cut or scaled. */
function isWhole(frame: VideoPicture, video: Video | null): boolean {
  const { visibleRect, displayWidth: width, displayHeight: height, rotation = 0, flip = false } = frame;
  if (rotation !== 0 || flip || visibleRect?.width !== width || visibleRect.height !== height) return false;
  // Compare the sides: some browsers do not state the rotation of a video, and its frames come unrotated.
  return video === null || (video.videoWidth === width && video.videoHeight === height);
}

/**
 * Returns "i420" or "nv12" if the frame has that format, colours of BT.601 in video range, and even sides: planes with
 * odd sides would have other strides. Else returns "rgba".
 */
function formatOf({ format, colorSpace, displayWidth, displayHeight }: VideoPicture): ImageFormat {
  const isUsual = BT601.includes(colorSpace.matrix) && colorSpace.fullRange === false;
  if (!isUsual || displayWidth % 2 !== 0 || displayHeight % 2 !== 0) return "rgba";
  return format === "I420" ? "i420" : format === "NV12" ? "nv12" : "rgba";
}
