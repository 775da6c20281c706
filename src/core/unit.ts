/** Decides the unit of finished boxes. */

/**
 * Largest plausible distance of a box centre from 0, in multiples of the image's size. A normalised box may have any
 * size, but its centre lies in or near the network input, which exceeds a letterboxed photo on one axis only. The
 * centre of a box in pixels is further away, unless it lies within 8 pixels of the left or top edge.
 */
const MOST_IMAGES = 8;

/** True if a box is in pixels, not in 0..1 across the image. */
export const isInPixels = (x_min: number, y_min: number, x_max: number, y_max: number): boolean =>
  x_min + x_max > 2 * MOST_IMAGES && y_min + y_max > 2 * MOST_IMAGES;
