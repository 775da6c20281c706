/** COCO's own class ids, 1..90, of which ten are unused. */

/** Unused ids in COCO's own numbering 1..90. */
export const COCO_UNUSED: readonly number[] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/** Largest id in COCO's own numbering. Networks with a column for each of 0..90 have 91 columns. */
export const COCO_LAST = 90;

/** Count of COCO's classes when numbered without gaps. */
export const COCO_CLASSES = 80;

/** Returns COCO's own ids of the 80 classes, in order. */
export const cocoIds = (): number[] =>
  Array.from({ length: COCO_LAST }, (_, i) => i + 1).filter((id) => !COCO_UNUSED.includes(id));

/**
 * True if these labels are COCO's. Compares only the count, the first name and the last name, since spellings of other
 * names vary ("aeroplane").
 */
export const areCoco = (labels: readonly string[] | null, count: number): boolean =>
  labels?.length === count &&
  labels[0].toLowerCase() === "person" &&
  labels[count - 1].toLowerCase() === "toothbrush";
