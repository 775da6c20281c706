/** Reads the golden cases beyond boxes: answers of published software, described by `fixtures/beyond/README.md`. */
import { fixtures, readBytes } from "./shared-data.ts";

export const readBeyond = (name: string): unknown =>
  JSON.parse(new TextDecoder().decode(readBytes(fixtures, "beyond", `${name}.json`)));
