/** Files of NumPy, sound or not, put together by hand. */
export function npy(header: string, data = new Uint8Array(0), version = 1): Uint8Array {
  const text = Buffer.from(header, "latin1");
  const head = Buffer.alloc(version === 1 ? 10 : 12);
  head.write("\x93NUMPY", "latin1");
  head[6] = version;
  if (version === 1) head.writeUInt16LE(text.length, 8);
  else head.writeUInt32LE(text.length, 8);
  return new Uint8Array(Buffer.concat([head, text, data]));
}

export const dict = (descr: string, shape: string, fortran = "False") =>
  `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
