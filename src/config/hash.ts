/** Hashes the fields of a config that affect decoding. The hash names the config. */
import { isRecord } from "../core/json.ts";
import type { Config } from "./types.ts";

/** Fields that do not change the detections. `familyExporter` says why the family is known. */
const SILENT = ["outputFormat", "note", "familyExporter"];

/** Returns the name of a config: a hash of its JSON, 16 hexadecimal digits. */
export const hashOf = (config: Config): string => fnv1a(JSON.stringify(config, canonical));

/** Returns the 64-bit FNV-1a hash of a text. Implemented here because the hashes of runtimes are asynchronous. */
export function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const c of text)
    hash = BigInt.asUintN(64, (hash ^ BigInt(c.codePointAt(0) as number)) * 0x100000001b3n);
  return (hash + (1n << 64n)).toString(16).slice(1);
}

/** Leaves out fields that are null or in `SILENT`, and sorts keys. A replacer for JSON.stringify. */
function canonical(key: string, value: unknown): unknown {
  if (value === null || SILENT.includes(key)) return undefined;
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
