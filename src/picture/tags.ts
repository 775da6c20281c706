/** Places boxes and their tags. All lengths are in pixels of the photo. */
import type { Drawn } from "./drawn.ts";

/** A rectangle of a picture, in pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The photo to draw on. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  /** Width of the lines of boxes. */
  readonly stroke: number;
}

/** A tag: a line of text with a filled rectangle behind it. */
export interface Tag {
  readonly text: string;
  readonly area: Area;
  readonly fontSize: number;
  /** Space to the left and right of the text. */
  readonly padding: number;
  readonly textWidth: number;
}

/** Font families of tags, in order of preference. */
export const FONTS = "DejaVu Sans, Verdana, sans-serif";

/** Returns where a tag's text starts on its base line. */
export const textPlace = ({ area, padding, fontSize }: Tag): readonly [x: number, y: number] => [
  area.x + padding,
  area.y + fontSize * 1.03,
];

/** Returns the radius of a tag's corners. */
export const cornerRadius = ({ area }: Tag): number => Math.min(area.height / 5, 4);

/** Height of a tag as a multiple of the font size. */
const TAG_HEIGHT = 1.35;
/** Space beside the text as a multiple of the font size. */
const PADDING = 0.35;

export function canvasOf(width: number, height: number): Canvas {
  return { width, height, stroke: Math.max(1.5, Math.min(width, height) / 140) };
}

const clamp = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(value, Math.max(low, high)));

/** Returns a box clipped to the photo, less half the width of its line, so that the whole line is visible. */
export function boxArea(d: Drawn, { width, height, stroke }: Canvas): Area {
  const inset = stroke / 2;
  const x = clamp(d.x_min * width, inset, width - inset);
  const y = clamp(d.y_min * height, inset, height - inset);
  const right = clamp(d.x_max * width, x, width - inset);
  const bottom = clamp(d.y_max * height, y, height - inset);
  return { x, y, width: right - x, height: bottom - y };
}

/** Returns a box's tag, inside the photo. It avoids earlier tags if possible, unless there are `MOST_PLACED`. */
export function placeTag(text: string, box: Area, canvas: Canvas, placed: readonly Area[]): Tag {
  const wanted = clamp(Math.min(canvas.width, canvas.height) / 22, 10, 64);
  const wantedWidth = textWidth(text, wanted) + 2 * wanted * PADDING;
  // Shrink a tag that does not fit the photo.
  const shrink = Math.min(1, canvas.width / wantedWidth, canvas.height / (wanted * TAG_HEIGHT));
  const fontSize = wanted * shrink;
  const padding = fontSize * PADDING;
  const length = textWidth(text, fontSize);
  const size = { width: length + 2 * padding, height: fontSize * TAG_HEIGHT };
  return { text, area: findArea(box, size, canvas, placed), fontSize, padding, textWidth: length };
}

/**
 * Returns the first free rectangle for a tag. Tries above the box, inside at its top, below it, inside at its bottom,
 * then line by line down the box; each at the left edge, then at the right. If none is free, returns the rectangle that
 * hides the least.
 */
function findArea(
  box: Area,
  size: Pick<Area, "width" | "height">,
  canvas: Canvas,
  placed: readonly Area[],
): Area {
  const half = canvas.stroke / 2;
  const bottom = box.y + box.height;
  const left = box.x - half;
  const right = box.x + box.width + half - size.width;
  const rows = Math.min(MOST_ROWS, Math.floor(box.height / size.height));
  const tops = [
    ...[box.y - half - size.height, box.y + half, bottom + half, bottom - half - size.height],
    ...Array.from({ length: rows }, (_, row) => box.y + half + row * size.height),
  ];
  const all = tops.flatMap((y) => [left, right].map((x) => ({ x, y })));
  const inside = all.filter(({ y }) => y >= 0 && y + size.height <= canvas.height);
  const areas = (inside.length > 0 ? inside : all).map(({ x, y }) => ({
    x: clamp(x, 0, canvas.width - size.width),
    y: clamp(y, 0, canvas.height - size.height),
    ...size,
  }));
  let best = areas[0];
  if (placed.length >= MOST_PLACED) return best;
  let least = Infinity;
  for (const area of areas) {
    const hidden = placed.reduce((sum, other) => sum + overlapOf(area, other), 0);
    if (hidden < least) [best, least] = [area, hidden];
    if (hidden === 0) break;
  }
  return best;
}

/** Largest count of tags to keep apart: each is compared with all, and 20,000 would take half a minute. */
const MOST_PLACED = 500;

/** Largest count of lines down a box to try. */
const MOST_ROWS = 20;

/** Returns the overlap of two rectangles in square pixels. */
function overlapOf(a: Area, b: Area): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** Advance widths of DejaVu Sans from blank to tilde, in hundredths of the font size. */
// prettier-ignore
const WIDTHS = [
  32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84,
  84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61,
  69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59,
  82, 59, 59, 52, 64, 34, 64, 84,
];

/** Returns the width of a text. East Asian characters count as one font size, other unknown characters as a digit. */
function textWidth(text: string, fontSize: number): number {
  let hundredths = 0;
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    hundredths += WIDTHS[code - 32] ?? (code >= 0x1100 ? 100 : 64);
  }
  return (hundredths * fontSize) / 100;
}
