/** Hashes the fields of a config that affect decoding. The hash identifies the config. */
import { isRecord } from "../core/json.ts";
import type { Config } from "./types.ts";

/** Fields that do not change the detections. `familyExporter` only states why the family is known. */
const SILENT = ["outputFormat", "note", "familyExporter"];

/** Returns the hash of a config's JSON, 16 hexadecimal digits. */
export const hashOf = (config: Config): string => fnv1a(JSON.stringify(config, canonical));

/** Returns the 64-bit FNV-1a hash of a text. Runtimes have only asynchronous hash functions. */
export function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const c of text)
    hash = BigInt.asUintN(64, (hash ^ BigInt(c.codePointAt(0) as number)) * 0x100000001b3n);
  return (hash + (1n << 64n)).toString(16).slice(1);
}

/** Replacer for JSON.stringify: omits fields that are null or in `SILENT`, and sorts keys. */
function canonical(key: string, value: unknown): unknown {
  if (value === null || SILENT.includes(key)) return undefined;
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
