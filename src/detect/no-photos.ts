/** The module `#photos` where no package decodes the files of photos: in pages, which decode them by themselves. */
export const decodePhoto = null;
