/** Reads words, tables and strings of a plan file. Never reads a byte outside the file. */
import { FIRST_ADDRESS } from "../core/abi.ts";
import { refuseConfig } from "../core/errors.ts";

/** Throws a ConfigError about an unusable plan file. */
export const refusePlan = (got: string, expected: string): never => refuseConfig("plan", got, expected);

/** The words, tables and strings of a file. */
export class PlanBytes {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  /** Count of string bytes that may still be read. Bounds the work for a forged file. */
  #unread: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#unread = bytes.length;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Returns word `index` of the record at `offset`. */
  word(offset: number, index: number): number {
    return this.#view.getUint32(offset + index * 4, true);
  }

  float(offset: number, index: number): number {
    return this.#view.getFloat32(offset + index * 4, true);
  }

  /** Returns the double that begins at word `index` after `offset`. */
  double(offset: number, index: number): number {
    return this.#view.getFloat64(offset + index * 4, true);
  }

  /** Returns the offset of each row of a table at offset `at`. A row has `words` words. */
  rows(at: number, count: number, words: number): number[] {
    const first = within(at, count * words * 4, this.bytes.length);
    return Array.from({ length: count }, (_, i) => first + i * words * 4);
  }

  /**
   * Returns the offset of each row of a table. Words `offsetWord` and `countWord` of the directory hold the table's
   * offset and row count.
   */
  table(offsetWord: number, countWord: number, words: number): number[] {
    return this.rows(this.word(0, offsetWord), this.word(0, countWord), words);
  }

  /** Throws unless the file ends with a zero byte, so that every string ends inside the file. */
  checkLastByte(): void {
    const last = this.bytes[this.bytes.length - 1];
    if (last !== 0) refusePlan(`a last byte ${last}`, "0, which ends the last string");
  }

  /** Returns the string at `offset`. Decodes without TextDecoder, which QuickJS and Hermes may lack. */
  text(offset: number): string {
    let escaped = "";
    for (let i = within(offset, 1, this.bytes.length); this.bytes[i] !== 0; i++) {
      if (--this.#unread < 0) refusePlan("strings that overlap", "each by itself");
      escaped += `%${this.bytes[i].toString(16).padStart(2, "0")}`;
    }
    try {
      return decodeURIComponent(escaped);
    } catch {
      return refusePlan("a name that is not UTF-8", "UTF-8");
    }
  }
}

/**
 * Returns `at`. Throws unless `bytes` bytes at offset `at` lie in `from..end`, and `at` is a multiple of `step`. With 0
 * bytes, `at` may also be a count or another number, which must lie in `from..end`.
 */
export function within(at: number, bytes: number, end: number, from = FIRST_ADDRESS, step = 1): number {
  return at >= from && at + bytes <= end && at % step === 0
    ? at
    : refusePlan(
        `${bytes > 0 ? `bytes ${at}..${at + bytes}` : at} for a place or a count`,
        `${from}..${end}${step > 1 ? `, a multiple of ${step}` : ""}`,
      );
}

/** Checks a memory address as `within` does. The address must be a multiple of 16. */
export const aligned = (at: number, bytes: number, end: number, from: number): number =>
  within(at, bytes, end, from, 16);
