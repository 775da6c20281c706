/** Writes flatbuffers from a description, without a schema. Every table stands behind the one that refers to it. */

/** A field's value. Numbers of one kind stand in a vector of that kind. */
export type Field =
  | { readonly i8: number }
  | { readonly i32: number }
  | { readonly text: string }
  | { readonly table: Table }
  | { readonly tables: readonly Table[] }
  | { readonly i32s: readonly number[] }
  | { readonly f32s: readonly number[] }
  | { readonly i64s: readonly number[] }
  | { readonly bytes: Uint8Array };

/** Fields by number. A field that is undefined is left out of the file. */
export type Table = { readonly [field: number]: Field | undefined };

const isInline = (field: Field): boolean => "i8" in field || "i32" in field;

class Writer {
  readonly #bytes: number[] = [];

  get length(): number {
    return this.#bytes.length;
  }

  put(bytes: Iterable<number>): number {
    const at = this.#bytes.length;
    for (const byte of bytes) this.#bytes.push(byte);
    return at;
  }

  number(value: number, size: number): number {
    return this.put(Array.from({ length: size }, (_, i) => (value >> (8 * i)) & 255));
  }

  /** Writes 32 bits over those at `at`. */
  patch(at: number, value: number): void {
    for (let i = 0; i < 4; i++) this.#bytes[at + i] = (value >> (8 * i)) & 255;
  }

  /** Fills the offset at `at`, so that it leads to the end of what is written. */
  leadHere(at: number): void {
    this.align(4);
    this.patch(at, this.length - at);
  }

  align(size: number): void {
    while (this.length % size !== 0) this.#bytes.push(0);
  }

  finish(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes);
  }
}

function writeTable(w: Writer, at: number, table: Table): void {
  const fields = Object.entries(table).flatMap(([key, field]) =>
    field === undefined ? [] : [[Number(key), field] as const],
  );
  const count = Math.max(-1, ...fields.map(([key]) => key)) + 1;
  w.align(4);
  // The fields' table stands before its own, so that the distance is positive.
  const vtable = w.number(4 + 2 * count, 2);
  w.number(4 + 4 * fields.length, 2);
  for (let key = 0; key < count; key++) {
    const place = fields.findIndex(([k]) => k === key);
    w.number(place < 0 ? 0 : 4 + 4 * place, 2);
  }
  w.leadHere(at);
  const start = w.number(0, 4);
  const places = fields.map(([, field]) => {
    const value = "i8" in field ? field.i8 : "i32" in field ? field.i32 : 0;
    return w.number(value, 4);
  });
  w.patch(start, start - vtable);
  fields.forEach(([, field], i) => {
    if (!isInline(field)) writeField(w, places[i], field);
  });
}

function writeField(w: Writer, at: number, field: Field): void {
  w.leadHere(at);
  if ("text" in field) {
    const text = new TextEncoder().encode(field.text);
    w.number(text.length, 4);
    w.put([...text, 0]);
  } else if ("bytes" in field) {
    w.number(field.bytes.length, 4);
    w.put(field.bytes);
  } else if ("i32s" in field)
    writeVector(w, new Uint8Array(Int32Array.from(field.i32s).buffer), field.i32s.length);
  else if ("f32s" in field)
    writeVector(w, new Uint8Array(Float32Array.from(field.f32s).buffer), field.f32s.length);
  else if ("i64s" in field)
    writeVector(w, new Uint8Array(BigInt64Array.from(field.i64s, BigInt).buffer), field.i64s.length);
  else if ("table" in field) writeTable(w, at, field.table);
  else if ("tables" in field) {
    w.number(field.tables.length, 4);
    const places = field.tables.map(() => w.number(0, 4));
    field.tables.forEach((table, i) => writeTable(w, places[i], table));
  }
}

function writeVector(w: Writer, bytes: Uint8Array, count: number): void {
  w.number(count, 4);
  w.put(bytes);
}

/** Returns a file whose root is `root`. @param mark four letters of the file's kind */
export function flatbuffer(root: Table, mark: string): Uint8Array<ArrayBuffer> {
  const w = new Writer();
  const at = w.number(0, 4);
  w.put(new TextEncoder().encode(mark));
  writeTable(w, at, root);
  return w.finish();
}
