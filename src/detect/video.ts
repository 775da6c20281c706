/**
 * Reads the frame that a `<video>` shows, by WebCodecs: the planes as the decoder of the video made them, without a
 * canvas. If the browser lacks WebCodecs, or the frame is turned or scaled, the canvas of `PixelReader` reads it.
 */
import type { ImageFormat, ImageInput } from "../decode/prepare.ts";

/** A frame of WebCodecs, as far as it is used. */
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

/** Matrices of BT.601, which the planes of an image are read by. */
const BT601: readonly unknown[] = ["smpte170m", "bt470bg"];

/** Reads frames of videos into memory that it keeps. */
export class VideoReader {
  #bytes = new Uint8Array(0);
  /** False once a frame could not be read: the browser then lacks a step. */
  #works = true;

  /** Returns the pixels of the frame that a video shows; null if a canvas has to read it. */
  async read(video: object): Promise<ImageInput | null> {
    const { VideoFrame: Open } = globalThis as { VideoFrame?: new (video: object) => VideoPicture };
    if (!Open || !this.#works || !isVideo(video)) return null;
    let frame: VideoPicture | null = null;
    try {
      frame = new Open(video);
      return isWhole(frame) ? await this.#copy(frame) : null;
    } catch {
      this.#works = false;
      return null;
    } finally {
      frame?.close();
    }
  }

  async #copy(frame: VideoPicture): Promise<ImageInput> {
    const { displayWidth: width, displayHeight: height } = frame;
    const format = formatOf(frame);
    // Let the browser convert frames of another matrix or range.
    const options = format === "rgba" ? { format: "RGBA", colorSpace: "srgb" } : {};
    const size = frame.allocationSize(options);
    if (this.#bytes.length !== size) this.#bytes = new Uint8Array(size);
    const [{ stride }] = await frame.copyTo(this.#bytes, options);
    return { data: this.#bytes, width, height, format, stride };
  }
}

/** True for a `<video>` that has a frame. */
const isVideo = (image: object): boolean =>
  "videoWidth" in image && "readyState" in image && Number(image.readyState) >= 2;

/** True if the frame's bytes are the picture as it is shown: neither turned, nor cut, nor scaled. */
const isWhole = ({
  visibleRect,
  displayWidth,
  displayHeight,
  rotation = 0,
  flip = false,
}: VideoPicture): boolean =>
  rotation === 0 && !flip && visibleRect?.width === displayWidth && visibleRect.height === displayHeight;

/** Returns the planes of a frame in BT.601 of video range, else "rgba". Odd sizes have planes with other strides. */
function formatOf({ format, colorSpace, displayWidth, displayHeight }: VideoPicture): ImageFormat {
  const isUsual = BT601.includes(colorSpace.matrix) && colorSpace.fullRange === false;
  if (!isUsual || displayWidth % 2 !== 0 || displayHeight % 2 !== 0) return "rgba";
  return format === "I420" ? "i420" : format === "NV12" ? "nv12" : "rgba";
}
