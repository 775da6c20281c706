/** Reads the pixels of photos, and writes JPEG. Uses optional packages of Node. */
import { createRequire } from "node:module";
import { DrawError } from "../picture/drawn.ts";
import { type ImageInfo, imageInfo } from "../picture/image-info.ts";

/** Pixels of an upright photo, 4 bytes per pixel: red, green, blue, alpha. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Error about optional packages that are not installed. */
export class MissingPackage extends DrawError {
  constructor(what: string, ...names: readonly string[]) {
    const are = names.length > 1 ? "optional packages that are" : "an optional package that is";
    super(`${what} needs ${are} not installed. Run npm install ${names.join(" ")}`);
  }
}

/** Returns the optional packages that are needed to read a photo with this name, and to draw on it. */
export function packagesFor(path: string, isDrawn: boolean): string[] {
  const drawing = isDrawn ? ["@resvg/resvg-js"] : [];
  if (/\.png$/i.test(path)) return ["pngjs", ...drawing];
  return /\.jpe?g$/i.test(path) ? ["jpeg-js", ...drawing] : drawing;
}

/** Throws a MissingPackage error that names all packages in the list that are not installed. */
export function checkPackages(names: readonly string[]): void {
  const { resolve } = createRequire(import.meta.url);
  const missing = [...new Set(names)].filter((name) => {
    try {
      return resolve(name) === "";
    } catch {
      return true;
    }
  });
  if (missing.length > 0) throw new MissingPackage("the command", ...missing);
}

/** Largest photo to read, in megapixels. While a photo is turned upright, memory holds its pixels three times. */
const MOST_MEGAPIXELS = 250;
const MOST_MEGABYTES = 4096;
const JPEG_QUALITY = 92;

/**
 * Reads a PNG or JPEG with the optional package for the format: pngjs or jpeg-js. The returned pixels are upright, even
 * if the camera stored the photo turned.
 * @example
 * import { readFileSync } from "node:fs";
 * import { readImage } from "boxwright/node";
 *
 * const { width, height } = await readImage(readFileSync("test/fixtures/photos/chelsea.png"));
 * console.log(width, height); // 451 300
 * @param where name of the file in error messages
 * @throws DrawError if the bytes are another format or damaged, or if the package for the format is missing
 */
export async function readImage(bytes: Uint8Array, where = "image"): Promise<Pixels> {
  const info = imageInfo(bytes, where);
  if (info.width * info.height > MOST_MEGAPIXELS * 1e6)
    throw new DrawError(
      `${where}: got ${info.width} x ${info.height} pixels, expected at most ${MOST_MEGAPIXELS} million`,
    );
  const read = info.mime === "image/png" ? pngReader() : jpegReader();
  try {
    return upright(read(bytes), info.orientation);
  } catch (error) {
    throw new DrawError(
      `${where}: got a ${formatOf(info)} that cannot be read (${(error as Error).message}), expected a whole file`,
    );
  }
}

/** Writes a JPEG. Throws a DrawError if the package for JPEG is missing. */
export async function writeJpeg({ data, width, height }: Pixels): Promise<Uint8Array> {
  return loadJpeg().encode({ data, width, height }, JPEG_QUALITY).data;
}

const formatOf = ({ mime }: ImageInfo): string => (mime === "image/png" ? "PNG" : "JPEG");

type Reader = (bytes: Uint8Array) => Pixels;

function pngReader(): Reader {
  const { PNG } = load<{ readonly PNG: { readonly sync: { read(bytes: Buffer): Pixels } } }>("PNG", "pngjs");
  return (bytes) => PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function jpegReader(): Reader {
  const jpeg = loadJpeg();
  const limits = { maxResolutionInMP: MOST_MEGAPIXELS, maxMemoryUsageInMB: MOST_MEGABYTES };
  return (bytes) => jpeg.decode(bytes, { useTArray: true, formatAsRGBA: true, ...limits });
}

interface Jpeg {
  decode(bytes: Uint8Array, options: object): Pixels;
  encode(pixels: Pixels, quality: number): { readonly data: Uint8Array };
}

const loadJpeg = (): Jpeg => load<Jpeg>("JPEG", "jpeg-js");

/** Loads an optional package. Avoids `import`, for which bundlers would require the package to be installed. */
function load<T>(format: string, name: string): T {
  try {
    return createRequire(import.meta.url)(name) as T;
  } catch {
    throw new MissingPackage(`a ${format}`, name);
  }
}

/** Returns the pixels, turned upright by the photo's EXIF orientation. */
export function upright(stored: Pixels, orientation: number): Pixels {
  if (orientation === 1) return stored;
  const { data, width: w, height: h } = stored;
  const [width, height] = orientation >= 5 ? [h, w] : [w, h];
  const from = new Uint32Array(data.slice().buffer);
  const to = new Uint32Array(width * height);
  // True if x or y of the stored picture is mirrored, as in storedAs() of picture/image-info.ts.
  const isMirroredX = [2, 3, 7, 8].includes(orientation);
  const isMirroredY = [3, 4, 6, 7].includes(orientation);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [sx, sy] = orientation >= 5 ? [y, x] : [x, y];
      to[y * width + x] = from[(isMirroredY ? h - 1 - sy : sy) * w + (isMirroredX ? w - 1 - sx : sx)];
    }
  return { data: new Uint8Array(to.buffer), width, height };
}
