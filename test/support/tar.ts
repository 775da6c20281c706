/** Tar archives, sound or not, written by hand. */

/** Returns a ustar header with a right checksum. `size` is the field as text. */
export const header = (name: string, size: string, kind = "0") => {
  const h = Buffer.alloc(512);
  h.write(name, 0);
  h.write(size, 124);
  h.write(kind, 156);
  h.write("ustar\0", 257);
  h.write("        ", 148);
  h.write(
    `${h
      .reduce((a, b) => a + b, 0)
      .toString(8)
      .padStart(6, "0")}\0 `,
    148,
  );
  return h;
};

/** Returns a size as the field of a header. */
export const octal = (n: number) => n.toString(8).padStart(11, "0");

/** Returns contents, padded to whole blocks. */
export const block = (text: string) =>
  Buffer.concat([Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);
