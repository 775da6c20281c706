/** Stands for `#photos` in pages, which decode photos by the browser and need no package. */
export const decodePhoto = null;
