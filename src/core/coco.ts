/** COCO's own numbering of its classes. */

/** Ids of COCO's own numbering, 1..90, that no class has. */
export const COCO_UNUSED: readonly number[] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/** COCO's own ids run up to this one. A column for each of them, and for 0, makes 91. */
export const COCO_LAST = 90;

/** COCO's classes without gaps. */
export const COCO_CLASSES = 80;

/** Returns COCO's own id of each class, in order. */
export const cocoIds = (): number[] =>
  Array.from({ length: COCO_LAST }, (_, i) => i + 1).filter((id) => !COCO_UNUSED.includes(id));

/**
 * True if so many labels are COCO's. Lists spell some names in two ways ("airplane", "aeroplane"), but neither the
 * first nor the last.
 */
export const areCoco = (labels: readonly string[] | null, count: number): boolean =>
  labels?.length === count &&
  labels[0].toLowerCase() === "person" &&
  labels[count - 1].toLowerCase() === "toothbrush";
