/** Stands for `#photos` in pages. Pages decode photos by the browser, and need no package. */
export const decodePhoto = null;
