/** Renders an SVG drawing as a PNG. Uses optional packages of Node. */
import type { ImageInput } from "../decode/prepare.ts";
import type { DetectionList } from "../decode/rows.ts";
import { createRequire } from "node:module";
import { showJson } from "../core/json.ts";
import { ANY, type OptionRules } from "../core/options.ts";
import { DrawError, type Drawn, readDrawOptions } from "../picture/drawn.ts";
import { DRAW_OPTIONS, type DrawOptions, drawSvg } from "../picture/svg.ts";
import { load, nullIfAbsent } from "./files/load.ts";
import type { Pixels } from "./images.ts";
import { pixelsPng } from "./png.ts";

/** Options of `rasterise` and `drawPng`. */
export interface RasterOptions {
  /** Path of a .ttf or .otf font. Default: DejaVu Sans from the package dejavu-fonts-ttf, else the system's fonts. */
  readonly font?: string;
  /** Width of the picture in pixels. Default: the width of the SVG. */
  readonly width?: number;
}

const RASTER_OPTIONS: OptionRules = { font: ANY, width: ANY };

interface ResvgOptions {
  readonly font: { readonly fontFiles: readonly string[]; readonly loadSystemFonts: boolean };
  readonly fitTo?: { readonly mode: "original" } | { readonly mode: "width"; readonly value: number };
}

/** The members of @resvg/resvg-js that this file uses. */
type Resvg = new (svg: string, options: ResvgOptions) => { render(): Rendered; getBBox(): unknown };

interface Rendered {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
  asPng(): Uint8Array;
}

/**
 * Returns a PNG of an SVG that `drawSvg` made. Needs the optional package @resvg/resvg-js.
 * @throws DrawError if the package is missing, the font cannot be used, the picture is too large, or the photo in the
 * SVG cannot be decoded
 * @example
 * import { readFileSync } from "node:fs";
 * import { drawSvg } from "boxwright";
 * import { imageInfo, rasterise } from "boxwright/node";
 *
 * const svg = drawSvg(readFileSync("test/fixtures/photos/chelsea.png"), []);
 * const png = await rasterise(svg, { width: 200 });
 * console.log(imageInfo(png).width, imageInfo(png).height); // 200 133
 */
export async function rasterise(svg: string, options: RasterOptions = {}): Promise<Uint8Array> {
  return (await render(svg, options)).asPng();
}

/** Returns the pixels of an SVG that `drawSvg` made: red, green, blue, alpha. Throws the same errors as `rasterise`. */
export async function rasterPixels(svg: string, options: RasterOptions = {}): Promise<Pixels> {
  const { pixels, width, height } = await render(svg, options);
  return { data: pixels, width, height };
}

async function render(svg: string, options: RasterOptions): Promise<Rendered> {
  if (typeof svg !== "string") throw new DrawError(`got ${showJson(svg)}, expected the text of an SVG`);
  const { font: ownFont, width } = readDrawOptions(options, RASTER_OPTIONS);
  const Resvg = await loadResvg();
  const font = await fontFor(svg, ownFont, Resvg);
  checkSize(svg, width);
  const fitTo =
    width === undefined ? ({ mode: "original" } as const) : ({ mode: "width", value: width } as const);
  const picture = new Resvg(svg, { font, fitTo }).render();
  checkPhoto(svg, picture.pixels);
  return picture;
}

/**
 * Draws detections on their photo, and returns the picture as PNG bytes: `rasterise` of `drawSvg`.
 * @param photo bytes of a PNG or JPEG, or the detector's pixels
 * @param detections coordinates normalised to the photo, 0..1
 * @throws DrawError as `drawSvg` and `rasterise` do, RangeError for wrong pixels
 * @example
 * import { readFileSync } from "node:fs";
 * import { drawPng, imageInfo } from "boxwright/node";
 *
 * const photo = readFileSync("test/fixtures/photos/chelsea.png");
 * const cat = { class_id: 0, label: "cat", confidence: 0.93, x_min: 0.2, y_min: 0.1, x_max: 0.9, y_max: 0.9 };
 * console.log(imageInfo(await drawPng(photo, [cat])).mime); // image/png
 */
export async function drawPng(
  photo: Uint8Array | ImageInput,
  detections: DetectionList<Drawn>,
  options: DrawOptions & RasterOptions = {},
): Promise<Uint8Array> {
  const { font, width, ...drawing } = readDrawOptions(options, { ...DRAW_OPTIONS, ...RASTER_OPTIONS });
  const isPixels = typeof photo === "object" && photo !== null && "data" in photo;
  return rasterise(drawSvg(isPixels ? pixelsPng(photo) : photo, detections, drawing), { font, width });
}

async function loadResvg(): Promise<Resvg> {
  interface Library {
    Resvg: Resvg;
  }
  let library: Library & { default?: Library };
  try {
    library = (await import("@resvg/resvg-js")) as unknown as Library & { default?: Library };
  } catch {
    throw new DrawError(
      "a PNG needs an optional package that is not installed. Run npm install @resvg/resvg-js dejavu-fonts-ttf, or draw an SVG.",
    );
  }
  return library.Resvg ?? library.default!.Resvg;
}

/** Returns the fonts to draw with. Throws if the picture contains text, but no font has Latin letters. */
async function fontFor(svg: string, named: string | undefined, Resvg: Resvg): Promise<ResvgOptions["font"]> {
  if (named !== undefined && !(await load(named).catch(nullIfAbsent)))
    throw new DrawError(`${named}: got no file that can be read, expected a .ttf or .otf font`);
  const file = named ?? packagedFont();
  const font = {
    fontFiles: file === null ? [] : [file],
    // Search the system's fonts, which is slow, only without a font file, or for Chinese, Japanese and Korean
    // characters, which DejaVu lacks.
    loadSystemFonts: file === null || /[\u2e80-\u{3ffff}]/u.test(svg),
  };
  if (svg.includes("</text>") && !hasLetters(font, Resvg))
    throw new DrawError(
      file === null
        ? "labels need a font, and this system has none. Run npm install dejavu-fonts-ttf, or name a .ttf " +
            "file: option font, --font in the command."
        : `${file}: got a file that is no usable font, expected a .ttf or .otf font with Latin letters`,
    );
  return font;
}

function packagedFont(): string | null {
  try {
    return createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
  } catch {
    return null;
  }
}

/** True if the font draws a letter. Without a usable font, resvg omits text without an error. */
function hasLetters(font: ResvgOptions["font"], Resvg: Resvg): boolean {
  const probe =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="8" font-family="DejaVu ' +
    'Sans, Verdana, sans-serif">x</text></svg>';
  return Boolean(new Resvg(probe, { font }).getBBox());
}

/** Largest picture in pixels. resvg stores several copies with 4 bytes per pixel, and does not check the size. */
const MOST_PIXELS = 2 ** 28;

/** Throws if the photo or the picture has too many pixels, or none. Reads the photo's size from its header. */
function checkSize(svg: string, wanted: number | undefined): void {
  const [, w, h] = /^<svg [^>]*? width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  if (w === undefined) return;
  const width = wanted ?? Number(w);
  const height = Math.round((Number(h) * width) / Number(w));
  if (!(Number.isInteger(width) && width >= 1 && height >= 1))
    throw new DrawError(
      `width: got ${width} for a photo of ${w} x ${h}, expected whole pixels, one or more a side`,
    );
  for (const [what, x, y] of [
    ["photo", Number(w), Number(h)],
    ["picture", width, height],
  ] as const)
    if (x * y > MOST_PIXELS)
      throw new DrawError(`got a ${what} of ${x} x ${y} pixels, expected at most ${MOST_PIXELS} for a PNG`);
}

/** Throws if the photo could not be decoded. resvg omits such a photo without an error. */
function checkPhoto(svg: string, pixels: Uint8Array): void {
  const opacity = photoOpacity(svg);
  if (opacity === "truncated" || (opacity === "opaque" && isMostlyClear(pixels)))
    throw new DrawError(
      "photo: got an image that cannot be decoded, expected a whole PNG or JPEG file. A JPEG must be " +
        "grey or have three colours, not CMYK.",
    );
}

function photoOpacity(svg: string): "opaque" | "transparent" | "truncated" {
  const [, type, base64] = /<image [^>]*href="data:image\/(jpeg|png);base64,([^"]*)"/.exec(svg) ?? [];
  if (type !== "png") return type === "jpeg" ? "opaque" : "transparent";
  const photo = Buffer.from(base64, "base64");
  if (!photo.includes("IEND")) return "truncated";
  // Colour types 0 (grey), 2 (colour) and 3 (palette) are opaque unless the file has a tRNS chunk.
  return [0, 2, 3].includes(photo[25]) && !photo.includes("tRNS") ? "opaque" : "transparent";
}

/** True if more than half of the pixels are transparent. Boxes and tags may have covered the other pixels. */
function isMostlyClear(rgba: Uint8Array): boolean {
  let clear = 0;
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] < 255) clear++;
  return clear > rgba.length / 8;
}
