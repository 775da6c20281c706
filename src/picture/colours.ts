/**
 * Colours of the lines. Any two are at least 0.12 apart in OKLab, where 0.02 is just visible. All have a contrast of
 * 4.5 with black, and the dark line beneath has a contrast of 3 on light pictures. Pictures with few classes use the
 * first seven.
 */
// prettier-ignore
const COLOURS = [
  "#ff3b5c", "#2ee59d", "#3d8bff", "#ffc400", "#b14aed", "#00d4ff", "#ff7a1a", "#1e8700", "#ffa5ff", "#a56900",
  "#2da596", "#ff00c3", "#a5a500", "#b46996", "#00ff00", "#00c300", "#a5a5f0", "#f087a5", "#7869c3", "#b4e10f",
];

/** Opacity of the dark line below a coloured one, and its width as a multiple of the coloured line's. */
export const HALO = { opacity: 0.45, width: 1.9 };

/** Fill of a keypoint's dot, and width of its ring in line widths. A dot in the class's colour is easily missed. */
export const DOT_FILL = "#fff";
export const DOT_RING = 0.7;

/** Returns the first choice of colour for a class. */
export const colourOf = (classId: number): string =>
  COLOURS[Math.abs(Math.trunc(classId)) % COLOURS.length] ?? COLOURS[0];

/** Returns a colour for each class id. Colours repeat only if there are more classes than colours. */
export function coloursOf(classIds: Iterable<number>): Map<number, string> {
  const colours = new Map<number, string>();
  const free = new Set(COLOURS);
  for (const id of [...new Set(classIds)].sort((a, b) => a - b)) {
    let at = COLOURS.indexOf(colourOf(id));
    if (free.size > 0) while (!free.has(COLOURS[at])) at = (at + 1) % COLOURS.length;
    colours.set(id, COLOURS[at]);
    free.delete(COLOURS[at]);
  }
  return colours;
}

/** Returns black or white, whichever has the higher WCAG contrast ratio on a colour. */
export function inkOn(colour: string): "#000" | "#fff" {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
}
