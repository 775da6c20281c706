/** Draws detections on their photo as one SVG file. Runs in every JavaScript runtime. */
import { toBase64 } from "./base64.ts";
import { colourOf, coloursOf, inkOn } from "./colours.ts";
import { type Drawn, checkDetections, checkOptions } from "./drawn.ts";
import { type ImageInfo, imageInfo, storedAs, withoutExif } from "./image-info.ts";
import { type Area, type Tag, boxArea, canvasOf, placeTag } from "./tags.ts";

/** Options of `drawSvg` and `drawPng`. */
export interface DrawOptions {
  /** Returns the text of a tag. Default: the label, or the class id, and the confidence in percent. */
  readonly tag?: (detection: Drawn) => string;
  /** Title of the picture: screen readers read it out, and browsers show it on hover. */
  readonly title?: string;
}

/**
 * Returns the photo with boxes and tags, as one SVG file that links to no other file. Boxes outside the photo are drawn
 * at its edge.
 * @param photo bytes of a PNG or JPEG
 * @param detections coordinates normalised to the photo, 0..1
 * @throws DrawError if the photo is neither a PNG nor a JPEG, or boxes are in pixels
 * @example
 * import { readFileSync } from "node:fs";
 * import { drawSvg } from "boxwright/node";
 *
 * const photo = readFileSync("test/fixtures/photos/chelsea.png");
 * const cat = { class_id: 0, label: "cat", confidence: 0.93, x_min: 0.2, y_min: 0.1, x_max: 0.9, y_max: 0.9 };
 * const svg = drawSvg(photo, [cat]);
 * console.log(svg.includes(">cat 93%</text>")); // true
 */
export function drawSvg(photo: Uint8Array, detections: Iterable<Drawn>, options: DrawOptions = {}): string {
  checkOptions(options);
  // In plain JavaScript null says as little as undefined.
  const { tag, title: ownTitle } = options ?? {};
  // Place the best scores first and draw them last: they get the best places, and stand on top.
  const best = checkDetections(detections).sort((a, b) => b.confidence - a.confidence);
  const info = imageInfo(photo);
  const { width, height } = info;
  const canvas = canvasOf(width, height);
  const colours = coloursOf(best.map((d) => d.class_id));
  const placed: Area[] = [];
  const marks = best.map((d) => {
    const box = boxArea(d, canvas);
    const text = (tag ?? defaultTag)(d);
    const label = placeTag(text, box, canvas, placed);
    placed.push(label.area);
    const colour = colours.get(d.class_id) ?? colourOf(d.class_id);
    return { outline: outlineElements(box, colour, canvas.stroke, text), tag: tagElements(label, colour) };
  });
  const title = ownTitle ?? `${marks.length} ${marks.length === 1 ? "detection" : "detections"}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    photoElement(photo, info),
    // Put all tags above all outlines: the line of another box must not cross out a name.
    ...marks.map((m) => m.outline).reverse(),
    ...marks.map((m) => m.tag).reverse(),
    "</svg>",
    "",
  ].join("\n");
}

/** Returns label and confidence. A network without names has its class ids for labels. */
function defaultTag({ label, class_id, confidence }: Drawn): string {
  const name = (label ?? "") === "" || label === String(class_id) ? `class ${class_id}` : label;
  return `${name} ${Math.round(confidence * 100)}%`;
}

function photoElement(photo: Uint8Array, info: ImageInfo): string {
  const { width, height, matrix } = storedAs(info);
  const data = toBase64(info.mime === "image/jpeg" ? withoutExif(photo) : photo);
  const transform = matrix === null ? "" : ` transform="${matrix}"`;
  return `<image width="${width}" height="${height}"${transform} href="data:${info.mime};base64,${data}"/>`;
}

function outlineElements(
  { x, y, width, height }: Area,
  colour: string,
  stroke: number,
  text: string,
): string {
  const rect = `<rect x="${decimal(x)}" y="${decimal(y)}" width="${decimal(width)}" height="${decimal(height)}" fill="none"`;
  return [
    // A dark line beneath keeps the coloured line visible on a photo of the same colour.
    `${rect} stroke="#000" stroke-opacity="0.45" stroke-width="${decimal(stroke * 1.9)}"/>`,
    `${rect} stroke="${colour}" stroke-width="${decimal(stroke)}"><title>${escapeXml(text)}</title></rect>`,
  ].join("\n");
}

function tagElements({ text, area, fontSize, padding, textWidth }: Tag, colour: string): string {
  if (text === "") return "";
  const { x, y, width, height } = area;
  const radius = Math.min(height / 5, 4);
  return [
    `<rect x="${decimal(x)}" y="${decimal(y)}" width="${decimal(width)}" height="${decimal(height)}" rx="${decimal(radius)}" fill="${colour}"/>`,
    // textLength keeps the words inside the tag, whatever font the viewer has.
    `<text x="${decimal(x + padding)}" y="${decimal(y + fontSize * 1.03)}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="${decimal(fontSize)}"` +
      ` textLength="${decimal(textWidth)}" lengthAdjust="spacingAndGlyphs" fill="${inkOn(colour)}">${escapeXml(text)}</text>`,
  ].join("\n");
}

/** Returns a coordinate with two decimals at most. */
const decimal = (value: number): string => String(Math.round(value * 100) / 100);

/**
 * Escapes text for XML. Characters that XML 1.0 forbids, most control characters and lone surrogates, become U+FFFD.
 */
const escapeXml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
