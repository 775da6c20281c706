/** Compares the boxes that two versions found in one frame. */
import { SHADOW_IOU } from "boxwright-service/schema/shadow";

/**
 * A box, in coordinates relative to the picture. Classes are compared by label, since class ids may differ between
 * versions, and by class id only without a label.
 */
export interface Found {
  readonly class_id: number;
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly y_min: number;
  readonly x_max: number;
  readonly y_max: number;
}

export interface Compared {
  /** Number of overlapping pairs with the same class. `changed`: number of overlapping pairs with different classes. */
  readonly matched: number;
  readonly changed: number;
  /** Boxes that only one of the versions found. */
  readonly onlyOld: readonly Found[];
  readonly onlyNew: readonly Found[];
  /** Pairs whose class changed. */
  readonly changes: readonly (readonly [Found, Found])[];
}

/** Returns the intersection of two boxes over their union: 0 to 1. */
export function overlapOf(a: Found, b: Found): number {
  const width = Math.min(a.x_max, b.x_max) - Math.max(a.x_min, b.x_min);
  const height = Math.min(a.y_max, b.y_max) - Math.max(a.y_min, b.y_min);
  if (!(width > 0 && height > 0)) return 0;
  const area = (box: Found): number => (box.x_max - box.x_min) * (box.y_max - box.y_min);
  return (width * height) / (area(a) + area(b) - width * height);
}

const classOf = ({ label, class_id }: Found): string => (label === "" ? `#${class_id}` : label);

/**
 * Matches boxes greedily, the largest overlap first, each box at most once: first boxes of the same class, then the
 * rest. Among equal overlaps, boxes that come first in the lists match first.
 */
export function compareFound(old: readonly Found[], next: readonly Found[]): Compared {
  const [freeOld, freeNew] = [new Set(old), new Set(next)];
  const match = (fits: (a: Found, b: Found) => boolean): (readonly [Found, Found])[] => {
    const pairs = [...freeOld].flatMap((a) =>
      [...freeNew].filter((b) => fits(a, b)).map((b) => ({ a, b, overlap: overlapOf(a, b) })),
    );
    const likely = pairs.filter(({ overlap }) => overlap >= SHADOW_IOU).sort((p, q) => q.overlap - p.overlap);
    return likely.flatMap(({ a, b }) => {
      if (!freeOld.has(a) || !freeNew.has(b)) return [];
      freeOld.delete(a);
      freeNew.delete(b);
      return [[a, b] as const];
    });
  };
  const matched = match((a, b) => classOf(a) === classOf(b)).length;
  const changes = match(() => true);
  return { matched, changed: changes.length, changes, onlyOld: [...freeOld], onlyNew: [...freeNew] };
}

/** Returns the number of boxes on which the versions disagree. */
export const disagreementOf = ({ changed, onlyOld, onlyNew }: Compared): number =>
  changed + onlyOld.length + onlyNew.length;
