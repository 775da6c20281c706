/** Reads tables of a flatbuffer by field number. Every address is checked against the bytes before it is read. */
import { refuseFile, textOf } from "./bytes.ts";

/** The bytes of a flatbuffer. All numbers are little-endian. */
export class Flatbuffer {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the root table, whose offset is in the first four bytes. */
  root(): Table {
    return new Table(this, this.follow(0));
  }

  i8(at: number): number {
    return this.#view.getInt8(this.check(at, 1));
  }

  u16(at: number): number {
    return this.#view.getUint16(this.check(at, 2), true);
  }

  u32(at: number): number {
    return this.#view.getUint32(this.check(at, 4), true);
  }

  i32(at: number): number {
    return this.#view.getInt32(this.check(at, 4), true);
  }

  f32(at: number): number {
    return this.#view.getFloat32(this.check(at, 4), true);
  }

  /** Returns a 64-bit integer as a double, exact up to 2^53. */
  i64(at: number): number {
    return this.u32(at) + this.i32(at + 4) * 2 ** 32;
  }

  follow(at: number): number {
    return at + this.u32(at);
  }

  /** Returns the text to which the offset at `at` points. Throws a ConfigError for more than `most` bytes. */
  text(at: number, most: number): string {
    const start = this.follow(at);
    const length = this.u32(start);
    if (length > most) refuseFile(this.name, `text of ${length} bytes at byte ${start}`, `at most ${most}`);
    this.check(start + 4, length);
    return textOf(this.bytes, start + 4, start + 4 + length);
  }

  /** Returns `at`. Throws a ConfigError unless the file has `length` bytes from `at` on. */
  check(at: number, length: number): number {
    if (at + length > this.bytes.length)
      refuseFile(
        this.name,
        `an offset to byte ${at} of ${this.bytes.length}`,
        "one inside the file: cut short or damaged",
      );
    return at;
  }
}

/** One table. An absent field reads as the default of its type: 0, null, or an empty list. */
export class Table {
  readonly file: Flatbuffer;
  readonly #at: number;
  readonly #fields: number;
  readonly #size: number;

  constructor(file: Flatbuffer, at: number) {
    this.file = file;
    this.#at = at;
    this.#fields = at - file.i32(at);
    if (this.#fields < 0) refuseFile(file.name, `a table at byte ${at} without fields`, "a flatbuffer");
    this.#size = file.u16(this.#fields);
  }

  /** Returns the address of a field, 0 if the table has none. */
  #address(field: number): number {
    const entry = 4 + 2 * field;
    if (entry + 2 > this.#size) return 0;
    const offset = this.file.u16(this.#fields + entry);
    return offset === 0 ? 0 : this.#at + offset;
  }

  i8(field: number): number {
    const at = this.#address(field);
    return at === 0 ? 0 : this.file.i8(at);
  }

  i32(field: number): number {
    const at = this.#address(field);
    return at === 0 ? 0 : this.file.i32(at);
  }

  /** Returns a text of at most `most` bytes, `null` if the table has none. */
  text(field: number, most: number): string | null {
    const at = this.#address(field);
    return at === 0 ? null : this.file.text(at, most);
  }

  table(field: number): Table | null {
    const at = this.#address(field);
    return at === 0 ? null : new Table(this.file, this.file.follow(at));
  }

  #items(field: number, size: number, most: number): { start: number; count: number } {
    const at = this.#address(field);
    if (at === 0) return { start: 0, count: 0 };
    const start = this.file.follow(at);
    const count = this.file.u32(start);
    if (count > most) refuseFile(this.file.name, `${count} items at byte ${start}`, `at most ${most}`);
    this.file.check(start + 4, count * size);
    return { start: start + 4, count };
  }

  /** Returns the numbers of a vector. `read` reads one item of `size` bytes. */
  #numbers(field: number, size: number, most: number, read: (at: number) => number): number[] {
    const { start, count } = this.#items(field, size, most);
    return Array.from({ length: count }, (_, i) => read(start + i * size));
  }

  i32s(field: number, most: number): number[] {
    return this.#numbers(field, 4, most, (at) => this.file.i32(at));
  }

  f32s(field: number, most: number): number[] {
    return this.#numbers(field, 4, most, (at) => this.file.f32(at));
  }

  i64s(field: number, most: number): number[] {
    return this.#numbers(field, 8, most, (at) => this.file.i64(at));
  }

  /** Returns the bytes of a vector, without a copy. */
  blob(field: number): Uint8Array {
    const { start, count } = this.#items(field, 1, Infinity);
    return this.file.bytes.subarray(start, start + count);
  }

  count(field: number): number {
    return this.#items(field, 4, Infinity).count;
  }

  /** Returns table `index` of a vector, `null` beyond its end. */
  item(field: number, index: number): Table | null {
    const { start, count } = this.#items(field, 4, Infinity);
    return index < 0 || index >= count ? null : new Table(this.file, this.file.follow(start + index * 4));
  }

  /** Returns the tables of a vector. Throws a ConfigError if there are more than `most`. */
  tables(field: number, most: number): Table[] {
    const { start, count } = this.#items(field, 4, most);
    return Array.from({ length: count }, (_, i) => new Table(this.file, this.file.follow(start + i * 4)));
  }
}
