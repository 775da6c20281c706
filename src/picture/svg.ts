/** Draws detections over their photo as one SVG file. Works in every JavaScript runtime. */
import type { DetectionList } from "../decode/rows.ts";
import { toBase64 } from "./base64.ts";
import { DOT_FILL, DOT_RING, HALO } from "./colours.ts";
import { EDGES, type Edges } from "../core/keypoints.ts";
import { FUNCTION, type OptionRules, type Rule } from "../core/options.ts";
import { type Drawn, readDrawOptions } from "./drawn.ts";
import { type ImageInfo, imageInfo, storedAs, withoutExif } from "./image-info.ts";
import { MASK_OPACITY, type Mark, marksOf } from "./marks.ts";
import { type Area, FONTS, cornerRadius, textPlace } from "./tags.ts";

/** Options of `drawSvg` and `drawPng`. */
export interface DrawOptions {
  /**
   * Returns the text of a tag. Default: the confidence in percent after the label, or after the class id. `row` is the
   * index of the detection, for instance for `ids[row]` of a tracker.
   */
  readonly tag?: (detection: Drawn, row: number) => string;
  /** Title of the picture: screen readers read it out, and browsers show it on hover. */
  readonly title?: string;
  /** Pairs of keypoints to join. Default: the edges of the detections, or COCO's for 17 keypoints. */
  readonly edges?: Edges;
}

const TEXT: Rule<string> = ["a text", (x) => typeof x === "string"];

export const DRAW_OPTIONS: OptionRules = { tag: FUNCTION, title: TEXT, edges: EDGES };

/**
 * Returns the photo with boxes and tags, as one SVG file that links to no other file. Boxes outside the photo are drawn
 * at its edge.
 * @param photo bytes of a PNG or JPEG
 * @param detections coordinates normalised to the photo, 0..1
 * @throws DrawError if the photo is neither a PNG nor a JPEG, or boxes are in pixels
 * @example
 * import { readFileSync } from "node:fs";
 * import { drawSvg } from "boxwright";
 *
 * const photo = readFileSync("test/fixtures/photos/chelsea.png");
 * const cat = { class_id: 0, label: "cat", confidence: 0.93, x_min: 0.2, y_min: 0.1, x_max: 0.9, y_max: 0.9 };
 * const svg = drawSvg(photo, [cat]);
 * console.log(svg.includes(">cat 93%</text>")); // true
 */
export function drawSvg(
  photo: Uint8Array,
  detections: DetectionList<Drawn>,
  options: DrawOptions = {},
): string {
  const { tag, title: ownTitle, edges } = readDrawOptions(options, DRAW_OPTIONS);
  const info = imageInfo(photo);
  const { width, height } = info;
  const { stroke, list } = marksOf(detections, info, tag, edges);
  const title = ownTitle ?? `${list.length} ${list.length === 1 ? "detection" : "detections"}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    photoElement(photo, info),
    ...list.flatMap(maskElements),
    // Draw all tags above all outlines, so that no line crosses out a name.
    ...list.map((mark) => outlineElements(mark, stroke)),
    ...list.flatMap((mark) => skeletonElements(mark)),
    ...list.map(tagElements),
    "</svg>",
    "",
  ].join("\n");
}

function photoElement(photo: Uint8Array, info: ImageInfo): string {
  const { width, height, matrix } = storedAs(info);
  const data = toBase64(withoutExif(photo));
  const transform = matrix === null ? "" : ` transform="${matrix}"`;
  return `<image width="${width}" height="${height}"${transform} href="data:${info.mime};base64,${data}"/>`;
}

function maskElements({ mask, colour }: Mark): string[] {
  if (mask === null || mask.length === 0) return [];
  const path = mask.map((ring) => `M${ring.map(decimal).join(" ")}Z`).join("");
  return [`<path d="${path}" fill="${colour}" fill-opacity="${MASK_OPACITY}" fill-rule="evenodd"/>`];
}

function outlineElements({ box, corners, colour, tag }: Mark, stroke: number): string {
  const name = corners ? "polygon" : "rect";
  const place = corners
    ? `points="${corners.map(([x, y]) => `${decimal(x)},${decimal(y)}`).join(" ")}"`
    : placeAttributes(box);
  const rect = `<${name} ${place} fill="none"`;
  return [
    // Draw a dark line first. The coloured line on it then stays visible on a photo of the same colour.
    `${rect} stroke="#000" stroke-opacity="${HALO.opacity}" stroke-width="${decimal(stroke * HALO.width)}"/>`,
    `${rect} stroke="${colour}" stroke-width="${decimal(stroke)}"><title>${escapeXml(tag.text)}</title></${name}>`,
  ].join("\n");
}

function skeletonElements({ skeleton, colour }: Mark): string[] {
  if (skeleton === null) return [];
  const { lines, dots, stroke, radius } = skeleton;
  const path = lines.map((line) => {
    const [x1, y1, x2, y2] = line.map(decimal);
    return `M${x1} ${y1}L${x2} ${y2}`;
  });
  const lined = (attributes: string): string =>
    `<path d="${path.join("")}" fill="none" stroke-linecap="round" ${attributes}/>`;
  return [
    ...(lines.length > 0
      ? [
          lined(
            `stroke="#000" stroke-opacity="${HALO.opacity}" stroke-width="${decimal(stroke * HALO.width)}"`,
          ),
          lined(`stroke="${colour}" stroke-width="${decimal(stroke)}"`),
        ]
      : []),
    ...dots.map(
      ([x, y]) =>
        `<circle cx="${decimal(x)}" cy="${decimal(y)}" r="${decimal(radius)}" fill="${DOT_FILL}" ` +
        `stroke="${colour}" stroke-width="${decimal(stroke * DOT_RING)}"/>`,
    ),
  ];
}

function tagElements({ tag, colour, ink }: Mark): string {
  const { text, area, fontSize, textWidth } = tag;
  if (text === "") return "";
  const [x, y] = textPlace(tag);
  return [
    `<rect ${placeAttributes(area)} rx="${decimal(cornerRadius(tag))}" fill="${colour}"/>`,
    // Set textLength, so that the text stays inside the tag in any font.
    `<text x="${decimal(x)}" y="${decimal(y)}" font-family="${FONTS}" font-size="${decimal(fontSize)}"` +
      ` textLength="${decimal(textWidth)}" lengthAdjust="spacingAndGlyphs" fill="${ink}">${escapeXml(text)}</text>`,
  ].join("\n");
}

const placeAttributes = ({ x, y, width, height }: Area): string =>
  `x="${decimal(x)}" y="${decimal(y)}" width="${decimal(width)}" height="${decimal(height)}"`;

/** Returns a coordinate with at most two decimals. */
const decimal = (value: number): string => String(Math.round(value * 100) / 100);

/** Escapes text for XML. Characters that XML 1.0 forbids and lone surrogates become U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
