/** Finds the kernels in Node. Their files lie beside this one in dist/. A bundle has no files, and takes the text. */
import { decodeLengths, masksLengths, prepareLengths } from "kernel-data";
import type { WasmKind } from "./kernel.ts";
import * as text from "./text.ts";

type Bytes = Uint8Array<ArrayBuffer>;

// `import` of node:fs would load Node's streams too, 3 ms of a start. Node before 20.16 has no such function, and
// takes the text.
const files = globalThis.process?.getBuiltinModule?.("node:fs");

/** Returns a function that reads a build of a kernel: null if neither a file nor the text has that build. */
const readerOf =
  (
    filePrefix: string,
    lengths: Readonly<Record<WasmKind, number>>,
    textOf: (kind: WasmKind) => Bytes | null,
  ) =>
  (kind: WasmKind): Bytes | null => {
    try {
      // Do not write `new URL(name, import.meta.url)`: bundlers would copy the file as an asset.
      const file = files?.readFileSync(
        new URL(import.meta.url.replace(/[^/]*$/, `${filePrefix}${kind}.wasm`)),
      );
      // Check the length: a bundle may lie beside another package's file of the same name.
      if (file?.length === lengths[kind]) return new Uint8Array(file);
    } catch {
      // No such file.
    }
    return textOf(kind);
  };

export const decode = /* @__PURE__ */ readerOf("", decodeLengths, text.decode);
export const masks = /* @__PURE__ */ readerOf("masks.", masksLengths, text.masks);
export const prepare = /* @__PURE__ */ readerOf("prepare.", prepareLengths, text.prepare);
