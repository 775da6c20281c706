/** Rewrites a kernel so that it defines its own memory. The WebAssembly specification defines the sections. */

const MEMORY_SECTION = 5;
const IMPORT_SECTION = 2;
const EXPORT_SECTION = 7;
/** Magic and version. */
const HEADER_BYTES = 8;
/** Flag of a memory that states a maximum. */
const HAS_MAXIMUM = 1;
/** Code for the kind of an export: memory. */
const IS_MEMORY = 2;

/**
 * Returns a kernel that exports its own memory of `pages` pages instead of importing one. wasm3 and WAMR need this,
 * since they cannot pass a memory to a module.
 */
export function standaloneKernel(from: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  const out: number[] = [...from.subarray(0, HEADER_BYTES)];
  let at = HEADER_BYTES;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const b = from[at++];
      value |= (b & 127) << shift;
      if (b < 128) return value;
    }
  };
  const section = (id: number, body: readonly number[]): void =>
    void out.push(id, ...leb(body.length), ...body);
  let hasMemory = false;
  while (at < from.length) {
    const id = from[at++];
    const end = number() + at;
    // Insert the memory before the first section with a larger id, since sections are in the order of their ids.
    if (!hasMemory && id > MEMORY_SECTION) {
      section(MEMORY_SECTION, [1, HAS_MAXIMUM, ...leb(pages), ...leb(pages)]);
      hasMemory = true;
    }
    if (id === IMPORT_SECTION) {
      const count = number();
      if (count !== 1) throw new Error(`kernel: got ${count} imports, expected one, the memory`);
    } else if (id === EXPORT_SECTION) {
      const count = number();
      const name = [6, ...new TextEncoder().encode("memory")];
      section(EXPORT_SECTION, [...leb(count + 1), ...from.subarray(at, end), ...name, IS_MEMORY, 0]);
    } else section(id, [...from.subarray(at, end)]);
    at = end;
  }
  return Uint8Array.from(out);
}

/** Returns a number in LEB128: seven bits a byte, and the high bit set on all bytes but the last. */
function leb(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    out.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return out;
}
