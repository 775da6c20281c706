/** Colours of classes. */

/** Colours that stand out from each other and from most photos. Neighbours in the list differ the most. */
// prettier-ignore
const COLOURS = [
  "#ff3b5c", "#2ee59d", "#3d8bff", "#ffc400", "#b14aed", "#00d4ff", "#ff7a1a", "#a6e22e", "#ff66c4", "#00b8a9",
  "#8c9eff", "#e8d44d", "#d84315", "#1de9b6", "#c77dff", "#64b5f6", "#f48fb1", "#7cb342", "#ffab91", "#26c6da",
];

/** Returns the colour of a class, unless another class of the same picture has it. */
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
