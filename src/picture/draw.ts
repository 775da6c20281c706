/**
 * Detections over their photo: a self-contained SVG, and from it a PNG by an optional library. Node only.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { isRecord, showJson } from "../core/json.ts";
import { isBytes } from "../core/tensor.ts";

/** What is drawn of a detection; coordinates normalised to the photo, 0..1, as detections have them before `toPixels`. */
export interface Drawn {
  readonly class_id: number;
  readonly label?: string | null;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
}

/** The photo cannot be used, or a library for the picture is missing. */
export class DrawError extends Error {
  override readonly name = "DrawError";
}

/** What the head of an image file says. */
export interface ImageInfo {
  readonly mime: "image/png" | "image/jpeg";
  /** As the photo is seen, after its EXIF orientation. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1 (upright) to 8. */
  readonly orientation: number;
}

/**
 * Size of a PNG or JPEG from its header, in pixels. A camera's JPEG may lie on its side: width and height are those of the upright photo.
 * @throws DrawError where the bytes are neither, with got and expected
 */
export function imageInfo(bytes: Uint8Array, where = "photo"): ImageInfo {
  if (!isBytes(bytes))
    throw new DrawError(
      `${where}: got ${showJson(bytes)}, expected the bytes of a PNG or JPEG, a Uint8Array`,
    );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const info =
    bytes.length >= 24 && view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a
      ? { mime: "image/png" as const, width: view.getUint32(16), height: view.getUint32(20), orientation: 1 }
      : bytes.length >= 4 && view.getUint16(0) === 0xffd8
        ? jpegInfo(view, where)
        : null;
  if (!info) {
    const start = Array.from(bytes.subarray(0, 8), (b) => b.toString(16).padStart(2, "0")).join(" ");
    throw new DrawError(
      `${where}: got ${start === "" ? "an empty file" : `a file that begins with ${start}`}, expected a PNG or JPEG`,
    );
  }
  if (info.width < 1 || info.height < 1 || info.width > 65535 || info.height > 65535)
    throw new DrawError(
      `${where}: got a size of ${info.width} x ${info.height}, expected 1 to 65535 pixels a side`,
    );
  return info;
}

/** Walks the segments up to the frame header (SOF): marker FF xx, then a length that counts itself. */
function jpegInfo(view: DataView, where: string): ImageInfo {
  let orientation = 1;
  for (const { marker, at, length } of jpegSegments(view)) {
    if (marker === 0xe1) orientation = exifOrientation(view, at + 4, length - 2) ?? orientation;
    // C0..CF are frame headers, but for C4 (Huffman tables), C8 (reserved) and CC (arithmetic coding).
    if (
      marker >= 0xc0 &&
      marker <= 0xcf &&
      marker !== 0xc4 &&
      marker !== 0xc8 &&
      marker !== 0xcc &&
      length >= 7
    ) {
      const height = view.getUint16(at + 5);
      const width = view.getUint16(at + 7);
      const upright = orientation < 5;
      return {
        mime: "image/jpeg",
        width: upright ? width : height,
        height: upright ? height : width,
        orientation,
      };
    }
  }
  throw new DrawError(`${where}: got a JPEG without a frame header (cut short?), expected a whole file`);
}

function* jpegSegments(view: DataView): Generator<{ marker: number; at: number; length: number }> {
  for (let at = 2; at + 4 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++; // a filling byte
      continue;
    }
    if (marker === 0xda || marker === 0xd9) return; // picture data begin, or the end
    const length = view.getUint16(at + 2);
    if (length < 2 || at + 2 + length > view.byteLength) return;
    yield { marker, at, length };
    at += 2 + length;
  }
}

/** Tag 0x0112 of the first directory of "Exif\0\0" + TIFF; null where there is none. */
function exifOrientation(view: DataView, at: number, length: number): number | null {
  if (length < 14 || view.getUint32(at) !== 0x45786966 || view.getUint16(at + 4) !== 0) return null;
  const tiff = at + 6;
  const end = at + length;
  const little = view.getUint16(tiff) === 0x4949;
  const directory = tiff + view.getUint32(tiff + 4, little);
  if (directory + 2 > end) return null;
  const count = view.getUint16(directory, little);
  for (let i = 0, entry = directory + 2; i < count && entry + 12 <= end; i++, entry += 12) {
    if (view.getUint16(entry, little) !== 0x0112) continue;
    const value = view.getUint16(entry + 8, little);
    return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}

/**
 * The JPEG without its APP1 segments. Browsers turn a photo by its EXIF, rasterisers do not: the picture says itself how it
 * is turned, so that all of them agree, and the photo's private data (place, camera) stay out of it.
 */
function withoutExif(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { marker, at, length } of jpegSegments(view)) {
    if (marker !== 0xe1) continue;
    parts.push(bytes.subarray(from, at));
    from = at + 2 + length;
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

/** SVG matrices that set a photo of stored size w x h upright, by EXIF orientation. */
const UPRIGHT: Record<number, (w: number, h: number) => string> = {
  2: (w) => `matrix(-1 0 0 1 ${w} 0)`,
  3: (w, h) => `matrix(-1 0 0 -1 ${w} ${h})`,
  4: (_, h) => `matrix(1 0 0 -1 0 ${h})`,
  5: () => `matrix(0 1 1 0 0 0)`,
  6: (_, h) => `matrix(0 1 -1 0 ${h} 0)`,
  7: (w, h) => `matrix(0 -1 -1 0 ${h} ${w})`,
  8: (w) => `matrix(0 -1 1 0 0 ${w})`,
};

/** Colours that stand apart from each other and from most photos; neighbours in the list differ the most. */
// prettier-ignore
const COLOURS = [
  "#ff3b5c", "#2ee59d", "#3d8bff", "#ffc400", "#b14aed", "#00d4ff", "#ff7a1a", "#a6e22e", "#ff66c4", "#00b8a9",
  "#8c9eff", "#e8d44d", "#d84315", "#1de9b6", "#c77dff", "#64b5f6", "#f48fb1", "#7cb342", "#ffab91", "#26c6da",
];

/** The colour a class has wherever no other class of the same picture has it. */
export const colourOf = (classId: number): string =>
  COLOURS[Math.abs(Math.trunc(classId)) % COLOURS.length] ?? COLOURS[0];

/** Colours of the classes in one picture: each its own as long as there are enough. */
function coloursOf(detections: readonly Drawn[]): Map<number, string> {
  const colours = new Map<number, string>();
  const free = new Set(COLOURS);
  const ids = [...new Set(detections.map((d) => d.class_id))].sort((a, b) => a - b);
  for (const id of ids) {
    let at = COLOURS.indexOf(colourOf(id));
    if (free.size > 0) while (!free.has(COLOURS[at])) at = (at + 1) % COLOURS.length;
    colours.set(id, COLOURS[at]);
    free.delete(COLOURS[at]);
  }
  return colours;
}

/** Black or white, whichever stands out more by the WCAG contrast ratio. */
function inkOn(colour: string): "#000" | "#fff" {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
}

/** Advance widths of DejaVu Sans from blank to tilde, in hundredths of the font size. */
// prettier-ignore
const WIDTHS = [
  32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
  100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
  50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
];

function textWidth(text: string, size: number): number {
  let hundredths = 0;
  for (const c of text) {
    const code = c.codePointAt(0)!;
    hundredths += WIDTHS[code - 32] ?? (code >= 0x1100 ? 100 : 64);
  }
  return (hundredths * size) / 100;
}

/** Text for XML: what XML 1.0 forbids altogether (most control characters, lone surrogates) becomes U+FFFD. */
const escape = (text: string): string =>
  text

    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Options of `drawSvg` and `drawPng`. */
export interface DrawOptions {
  /** Text of a tag; default: label (or class id) and score in percent. */
  readonly tag?: (detection: Drawn) => string;
  /** Read out by screen readers and shown by browsers on hover. */
  readonly title?: string;
}

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * The photo with boxes and tags, as one SVG file without links to others. Coordinates, 0..1, outside the photo are drawn at its edge.
 * @throws DrawError where the photo is none, or boxes are in pixels
 */
export function drawSvg(photo: Uint8Array, detections: Iterable<Drawn>, options: DrawOptions = {}): string {
  checkOptions(options);
  // in plain JavaScript null says as little as undefined
  const { tag, title: own } = options ?? {};
  if (typeof (detections as Partial<Iterable<Drawn>> | null)?.[Symbol.iterator] !== "function")
    throw new DrawError(
      `got detections ${showJson(detections)}, expected what decode returned, or a list of such`,
    );
  const info = imageInfo(photo);
  const { width, height } = info;
  const shorter = Math.min(width, height);
  const stroke = Math.max(1.5, shorter / 140);
  // The best scores are placed first and drawn last: they get the best place, and stand on top.
  const best = [...detections].map(checked).sort((a, b) => b.confidence - a.confidence);
  const placed: Area[] = [];
  const colours = coloursOf(best);
  const marks = best.map((d) => {
    const box = boxArea(d, width, height, stroke);
    return mark(d, box, tag ?? defaultTag, { width, height, shorter, stroke, colours }, placed);
  });
  const title = own ?? `${marks.length} ${marks.length === 1 ? "detection" : "detections"}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    photoElement(photo, info),
    // All tags above all lines: a line of another box must not cross out a name.
    ...marks.map((m) => m.outline).reverse(),
    ...marks.map((m) => m.tag).reverse(),
    "</svg>",
    "",
  ].join("\n");
}

function photoElement(photo: Uint8Array, { mime, width, height, orientation }: ImageInfo): string {
  const turned = UPRIGHT[orientation];
  const [w, h] = orientation >= 5 ? [height, width] : [width, height];
  const bytes = mime === "image/jpeg" ? withoutExif(photo) : photo;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const transform = turned ? ` transform="${turned(w, h)}"` : "";
  return `<image width="${w}" height="${h}"${transform} href="data:${mime};base64,${data}"/>`;
}

function checkOptions(options: unknown): void {
  if (typeof (options ?? {}) !== "object")
    throw new DrawError(`got options ${showJson(options)}, expected an object`);
}

/** `copy()`ed detections and JSON from elsewhere are drawn alike, so numbers are checked before they become coordinates. */
function checked(d: Drawn): Drawn {
  const numbers =
    isRecord(d) &&
    [d.class_id, d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].every((v) => Number.isFinite(v));
  if (!numbers)
    throw new DrawError(
      `got detection ${showJson(d)}, expected finite class_id, confidence, x_min, y_min, x_max and y_max`,
    );
  if (d.x_min + d.x_max > 2 * FAR && d.y_min + d.y_max > 2 * FAR)
    throw new DrawError(
      `got a box from (${d.x_min}, ${d.y_min}) to (${d.x_max}, ${d.y_max}), expected coordinates 0..1, not after toPixels`,
    );
  return d;
}

/**
 * How many photos to the right and below a box in pixels has its centre at least, unless it lies within so many pixels of an edge. A box in
 * 0..1 may be of any size and may stand out anywhere, but not so: its centre is near the network's input, which is larger than the photo
 * along one side only, where it was letterboxed.
 */
const FAR = 8;

const clamp = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(value, Math.max(low, high)));

/** The box inside the photo with its whole line visible, also where the object reaches beyond the edge. */
function boxArea(d: Drawn, width: number, height: number, stroke: number): Area {
  const inset = stroke / 2;
  const x = clamp(d.x_min * width, inset, width - inset);
  const y = clamp(d.y_min * height, inset, height - inset);
  const right = clamp(d.x_max * width, x, width - inset);
  const bottom = clamp(d.y_max * height, y, height - inset);
  return { x, y, width: right - x, height: bottom - y };
}

/** A network without names has its class numbers for labels. */
function defaultTag(d: Drawn): string {
  const label = d.label ?? "";
  const name = label === "" || label === String(d.class_id) ? `class ${d.class_id}` : label;
  return `${name} ${Math.round(d.confidence * 100)}%`;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly shorter: number;
  readonly stroke: number;
  readonly colours: ReadonlyMap<number, string>;
}

function mark(
  d: Drawn,
  box: Area,
  tagOf: (d: Drawn) => string,
  frame: Frame,
  placed: Area[],
): { outline: string; tag: string } {
  const colour = frame.colours.get(d.class_id) ?? colourOf(d.class_id);
  const text = tagOf(d);
  const { stroke } = frame;
  let size = clamp(frame.shorter / 22, 10, 64);
  let padding = size * 0.35;
  let length = textWidth(text, size);
  // A tag larger than the photo is set smaller, so that it stays inside.
  const fit = Math.min(frame.width / (length + 2 * padding), frame.height / (size * 1.35));
  if (fit < 1) [size, padding, length] = [size * fit, padding * fit, length * fit];
  const tag = place(box, { width: length + 2 * padding, height: size * 1.35 }, frame, placed);
  const round = n(Math.min(tag.height / 5, 4));
  const label = [
    `<rect x="${n(tag.x)}" y="${n(tag.y)}" width="${n(tag.width)}" height="${n(tag.height)}" rx="${round}" fill="${colour}"/>`,
    // textLength keeps the words inside their tag in whatever font the viewer has.
    `<text x="${n(tag.x + padding)}" y="${n(tag.y + size * 1.03)}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="${n(size)}"` +
      ` textLength="${n(length)}" lengthAdjust="spacingAndGlyphs" fill="${inkOn(colour)}">${escape(text)}</text>`,
  ];
  const outline = `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}" fill="none"`;
  return {
    // A dark line beneath keeps the coloured one visible on a photo of its own colour.
    outline: [
      `${outline} stroke="#000" stroke-opacity="0.45" stroke-width="${n(stroke * 1.9)}"/>`,
      `${outline} stroke="${colour}" stroke-width="${n(stroke)}"><title>${escape(text)}</title></rect>`,
    ].join("\n"),
    tag: text === "" ? "" : label.join("\n"),
  };
}

/** Above the box, else inside its top, below, or inside its bottom: the first place inside the photo that no other tag has. */
function place(box: Area, size: { width: number; height: number }, frame: Frame, placed: Area[]): Area {
  const half = frame.stroke / 2;
  const bottom = box.y + box.height;
  const left = box.x - half;
  const right = box.x + box.width + half - size.width;
  const tops = [box.y - half - size.height, box.y + half, bottom + half, bottom - half - size.height];
  const tries = tops.flatMap((y) => [left, right].map((x) => ({ x, y })));
  const inside = tries.filter(({ y }) => y >= 0 && y + size.height <= frame.height);
  const areas = (inside.length ? inside : tries).map(({ x, y }) => ({
    x: clamp(x, 0, frame.width - size.width),
    y: clamp(y, 0, frame.height - size.height),
    ...size,
  }));
  const area = areas.find((a) => !placed.some((p) => overlap(a, p))) ?? areas[0];
  placed.push(area);
  return area;
}

const overlap = (a: Area, b: Area): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** A coordinate with two decimals at most. */
const n = (value: number): string => String(Math.round(value * 100) / 100);

/** Options of `rasterise`. */
export interface RasterOptions {
  /** A .ttf or .otf file for the tags; default: DejaVu Sans of the package dejavu-fonts-ttf, else the system's fonts. */
  readonly font?: string;
  /** Width of the picture in pixels; default: that of the SVG. */
  readonly width?: number;
}

interface Resvg {
  Resvg: new (
    svg: string,
    options: object,
  ) => { render(): { asPng(): Uint8Array; readonly pixels: Uint8Array }; getBBox(): unknown };
}

/**
 * PNG bytes of an SVG made by `drawSvg`. Needs the optional package @resvg/resvg-js.
 * @throws DrawError where the package is missing, the font cannot be read, or the picture is too large or cannot be decoded
 */
export async function rasterise(svg: string, options: RasterOptions = {}): Promise<Uint8Array> {
  if (typeof svg !== "string") throw new DrawError(`got ${showJson(svg)}, expected the text of an SVG`);
  checkOptions(options);
  const { font: ownFont, width } = options ?? {};
  let library: Resvg & { default?: Resvg };
  try {
    library = (await import("@resvg/resvg-js")) as unknown as Resvg & { default?: Resvg };
  } catch {
    throw new DrawError(
      "got a PNG to draw, expected the optional package that rasterises it: npm install @resvg/resvg-js dejavu-fonts-ttf (an .svg needs neither)",
    );
  }
  const Resvg = library.Resvg ?? library.default!.Resvg;
  const file = ownFont ?? packagedFont();
  if (ownFont !== undefined && !(await readFile(ownFont).catch(() => null)))
    throw new DrawError(`${ownFont}: got no file that can be read, expected a .ttf or .otf font`);
  // DejaVu has no Chinese, Japanese or Korean; looking through the system's fonts takes long, so only where it can help.
  const font = {
    fontFiles: file === null ? [] : [file],
    loadSystemFonts: file === null || /[\u2e80-\u{3ffff}]/u.test(svg),
  };
  if (svg.includes("</text>")) {
    // Without any font the library leaves text out silently. A letter that has no extent tells.
    const probe = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="8" font-family="DejaVu Sans, Verdana, sans-serif">x</text></svg>`;
    if (!new Resvg(probe, { font }).getBBox())
      throw new DrawError(
        file === null
          ? "got no font on this system for the labels, expected one: npm install dejavu-fonts-ttf, or name a .ttf file with --font"
          : `${file}: got no usable font, expected a .ttf or .otf file with Latin letters`,
      );
  }
  checkSize(svg, width);
  const fitTo = width === undefined ? { mode: "original" } : { mode: "width", value: width };
  const picture = new Resvg(svg, { font, fitTo }).render();
  const shows = photoShows(svg);
  if (shows === "never" || (shows === "everywhere" && isMostlyClear(picture.pixels)))
    throw new DrawError(
      "photo: got an image that cannot be decoded, expected a whole PNG or JPEG file (of a JPEG, grey or three colours, not CMYK)",
    );
  return picture.asPng();
}

/** Pixels of a picture, four bytes each and held more than once: the library does not refuse what memory cannot hold. */
const LARGEST_PICTURE = 2 ** 28;

/** The size of the photo is what its header claims, and a width that is asked for multiplies it. */
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
    if (x * y > LARGEST_PICTURE)
      throw new DrawError(
        `got a ${what} of ${x} x ${y} pixels, expected at most ${LARGEST_PICTURE} for a PNG`,
      );
}

/** Where the photo in the SVG must be seen: everywhere if nothing in it is clear, never if its end is missing. */
function photoShows(svg: string): "everywhere" | "somewhere" | "never" {
  const [, type, base64] = /<image [^>]*href="data:image\/(jpeg|png);base64,([^"]*)"/.exec(svg) ?? [];
  if (type !== "png") return type === "jpeg" ? "everywhere" : "somewhere";
  const photo = Buffer.from(base64, "base64");
  if (!photo.includes("IEND")) return "never";
  // the colour type of the header: 0 grey, 2 colour, 3 palette; colours of them may be declared clear
  return [0, 2, 3].includes(photo[25]) && !photo.includes("tRNS") ? "everywhere" : "somewhere";
}

/** An image that it cannot decode is left out by the library silently: what shines through tells, whatever is drawn above. */
function isMostlyClear(rgba: Uint8Array): boolean {
  let clear = 0;
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] < 255) clear++;
  return clear > rgba.length / 8;
}

function packagedFont(): string | null {
  try {
    return createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
  } catch {
    return null;
  }
}

/**
 * Detections on their photo as PNG bytes: `rasterise` of `drawSvg`.
 * @throws DrawError as both do
 */
export async function drawPng(
  photo: Uint8Array,
  detections: Iterable<Drawn>,
  options: DrawOptions & RasterOptions = {},
): Promise<Uint8Array> {
  return rasterise(drawSvg(photo, detections, options), options);
}
