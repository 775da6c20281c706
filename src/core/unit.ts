/** Tells the unit of finished boxes. */

/**
 * Images that the centre of a box may lie to the right and down. The centre of a box in pixels lies farther, unless it
 * is within as many pixels of the left or top edge. A normalised box may have any size, but its centre lies near the
 * network input, which exceeds a letterboxed photo along one side only.
 */
const MOST_IMAGES = 8;

/** True if a box is in pixels, and not in 0..1 across the image. */
export const isInPixels = (x_min: number, y_min: number, x_max: number, y_max: number): boolean =>
  x_min + x_max > 2 * MOST_IMAGES && y_min + y_max > 2 * MOST_IMAGES;
