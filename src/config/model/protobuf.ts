/** Walks the fields of a protobuf message without a schema. Skips unread fields, and copies nothing. */
import { ConfigError, mismatch } from "../../core/errors.ts";
import { textOf } from "./bytes.ts";

const VARINT = 0;
const EIGHT_BYTES = 1;
const BLOCK = 2;
const FOUR_BYTES = 5;

/** One message: a range of the file's bytes. `next` moves to the next field. */
export class Message {
  /** Number of the current field. */
  field = 0;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #path: string;
  #at: number;
  #wire = VARINT;
  #value = 0;
  #start = 0;

  /** @param path the message's name in errors, for instance `graph.input` */
  constructor(bytes: Uint8Array, path = "", start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#path = path;
    this.#at = start;
    this.#end = end;
  }

  /**
   * Moves to the next field. Returns false at the end of the message. Throws a ConfigError for a field that extends
   * beyond the end or has an unknown wire type.
   */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const at = this.#at;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#wire = tag % 8;
    if (this.field < 1 || this.field >= 2 ** 29)
      this.#refuse(`field number ${this.field} at byte ${at}`, "a protobuf field");
    if (this.#wire === VARINT) this.#value = this.#varint();
    else if (this.#wire === EIGHT_BYTES) this.#skip(8);
    else if (this.#wire === BLOCK) this.#skip(this.#varint());
    else if (this.#wire === FOUR_BYTES) this.#skip(4);
    else this.#refuse(`wire type ${this.#wire} at byte ${at}`, "0, 1, 2 or 5");
    return true;
  }

  /** Returns the current field as a number. Above 2^53, where negative 64-bit numbers lie, the number is not exact. */
  number(): number {
    this.#check(VARINT, "a number");
    return this.#value;
  }

  /** Returns the current field as text. Throws a ConfigError for more than `most` bytes, or another type. */
  text(most: number): string {
    this.#check(BLOCK, "text");
    const length = this.#at - this.#start;
    if (length > most) this.#refuse(`text of ${length} bytes in field ${this.field}`, `at most ${most}`);
    return textOf(this.#bytes, this.#start, this.#at);
  }

  /** Returns the current field as a nested message. */
  message(name: string): Message {
    this.#check(BLOCK, "a message");
    const path = this.#path === "" ? name : `${this.#path}.${name}`;
    return new Message(this.#bytes, path, this.#start, this.#at);
  }

  #check(wire: number, expected: string): void {
    if (this.#wire !== wire) this.#refuse(`wire type ${this.#wire} in field ${this.field}`, expected);
  }

  #skip(length: number): void {
    const remaining = this.#end - this.#at;
    if (length > remaining)
      this.#refuse(
        `field ${this.field} of ${length} bytes at byte ${this.#at}`,
        `at most ${remaining}: cut short`,
      );
    this.#start = this.#at;
    this.#at += length;
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.#at >= this.#end)
        this.#refuse(`the end of the message at byte ${this.#at}`, "a number: cut short");
      const byte = this.#bytes[this.#at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    return this.#refuse(`more than ten bytes of a number at byte ${this.#at}`, "at most ten");
  }

  #refuse(got: string, expected: string): never {
    // Begin the message with the likely cause: few readers know wire types.
    const message = `the file is damaged, cut short, or no ONNX file: ${mismatch(got, expected)}. Download or export it again`;
    throw new ConfigError([{ path: this.#path, message }]);
  }
}
