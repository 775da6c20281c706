/** The kinds of images that `detect` takes: pixels, anything that a canvas can draw, and the files of photos. */
import { refuse } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import { PIXELS, encodedKind } from "../picture/encoded.ts";
import { decodePhoto, photoOf } from "./photos.ts";
import { VideoReader, hasFrame } from "./video.ts";
import type { ImageInput } from "../decode/prepare.ts";

/**
 * Something that a page or worker can draw on a canvas: `ImageBitmap`, `HTMLImageElement`, `HTMLVideoElement`,
 * `HTMLCanvasElement`, `OffscreenCanvas`, `VideoFrame`.
 */
export type Drawable =
  | { readonly width: number; readonly height: number; readonly getContext?: unknown }
  | { readonly naturalWidth: number; readonly naturalHeight: number }
  | { readonly videoWidth: number; readonly videoHeight: number }
  | { readonly displayWidth: number; readonly displayHeight: number };

/** The file of a photo: JPEG or PNG, and in a page every format that the browser can show. */
export type PhotoFile = Uint8Array | ArrayBuffer | Blob;

/** An image for a detector: pixels, something drawable, or a photo's file. */
export type DetectorImage = ImageInput | Drawable | PhotoFile;

interface Context {
  drawImage(image: unknown, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): ImageInput;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: "2d", options: { readonly willReadFrequently: boolean }): Context | null;
}

/** The globals of a page or worker. Each may be missing. */
interface Drawing {
  readonly OffscreenCanvas?: new (width: number, height: number) => Canvas;
  readonly document?: { createElement(name: "canvas"): Canvas };
}

/** Reads the pixels of drawables through one canvas. */
export class PixelReader {
  #canvas: Canvas | null = null;
  #context: Context | null = null;

  readonly #video = new VideoReader();

  /**
   * Returns the pixels of an image. Returns a promise only for a photo's file, a `<video>` and a `VideoFrame`. Reads a
   * video frame without a canvas if the browser can.
   */
  readNow(image: DetectorImage): ImageInput | Promise<ImageInput> {
    if (typeof image !== "object" || image === null) return this.read(image);
    if ("videoWidth" in image || "displayWidth" in image)
      return this.#video.read(image).then((pixels) => pixels ?? this.read(image));
    const photo = photoOf(image);
    return photo === null ? this.read(image) : decodePhoto(photo, (bitmap) => this.read(bitmap));
  }

  /** Returns the pixels of an image. Draws the image on a canvas if necessary. */
  read(image: DetectorImage): ImageInput {
    const isObject = typeof image === "object" && image !== null;
    // Recognise a path or URL, which callers in plain JavaScript may pass.
    const isAddress = isObject ? "pathname" in image : typeof image === "string";
    if (!isObject || isAddress)
      return refuse(
        "image",
        show(image),
        isAddress
          ? "the picture itself: the bytes of the file (readFileSync(path) in Node), an <img>, or { data, width, height }"
          : "{ data, width, height }, or something that can be drawn",
      );
    if ("data" in image) return image as ImageInput;
    const encoded = encodedKind(image);
    if (encoded !== null) refuse("image", encoded, `something that can be drawn, or ${PIXELS}`);
    if (Array.isArray(image) || image instanceof Promise)
      refuse(
        "image",
        Array.isArray(image) ? "a list" : "a promise",
        Array.isArray(image) ? "one image: detectAll() takes a list" : "what it resolves to: await it",
      );
    if (!hasFrame(image))
      refuse("image", "a video without a frame", "one that shows a frame: await its event loadeddata");
    const [width, height] = sizeOf(image as Drawable);
    if (Number.isNaN(width + height))
      refuse(
        "image",
        `${show(image)} without a width and a height`,
        `something that can be drawn, or ${PIXELS}`,
      );
    if (!(width > 0 && height > 0))
      refuse(
        "image",
        `a size of ${width} x ${height}`,
        "one that is loaded and not closed: await image.decode(), or the video's event loadeddata",
      );
    const context = this.#contextOf(width, height);
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height);
  }

  #contextOf(width: number, height: number): Context {
    const canvas = (this.#canvas ??= newCanvas(width, height));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.#context ??= canvas.getContext("2d", { willReadFrequently: true });
    return (
      this.#context ??
      refuse("image", "a canvas without a 2D context", "one: pass the pixels, { data, width, height }")
    );
  }
}

function newCanvas(width: number, height: number): Canvas {
  const { OffscreenCanvas, document } = globalThis as Drawing;
  if (OffscreenCanvas) return new OffscreenCanvas(width, height);
  if (document) return document.createElement("canvas");
  return refuse(
    "image",
    "an object without data, and no canvas to draw it on",
    "the pixels, { data, width, height }: packages such as sharp and pngjs give them",
  );
}

/** Returns the size of a drawable in its own pixels, not the size at which the page displays the drawable. */
function sizeOf(image: Drawable): readonly [width: number, height: number] {
  const sizes = image as { readonly [key: string]: unknown };
  for (const kind of ["natural", "video", "display"])
    if (typeof sizes[`${kind}Width`] === "number")
      return [sizes[`${kind}Width`] as number, sizes[`${kind}Height`] as number];
  return [Number(sizes["width"]), Number(sizes["height"])];
}
