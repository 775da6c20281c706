/** Returns a zip archive with one file, which is not compressed. */
export function storedZip(name: string, data: Uint8Array): Buffer;
