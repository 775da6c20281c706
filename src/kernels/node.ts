/** Loads the kernels in Node, from files beside this file in dist/. A bundle has no such files, and uses the text. */
import { decodeLengths, masksLengths, prepareLengths } from "kernel-data";
import type { WasmKind } from "./kernel.ts";
import * as text from "./text.ts";

type Bytes = Uint8Array<ArrayBuffer>;

// Avoid `import` of node:fs, which also loads Node's streams and takes 3 ms. Node before 20.16 lacks
// `getBuiltinModule`, and uses the text.
const files = globalThis.process?.getBuiltinModule?.("node:fs");

/** Returns a function that reads a build from its file, else from the text, or returns null if both lack the build. */
const readerOf =
  (
    filePrefix: string,
    lengths: Readonly<Record<WasmKind, number>>,
    textOf: (kind: WasmKind) => Bytes | null,
  ) =>
  (kind: WasmKind): Bytes | null => {
    try {
      // Avoid `new URL(name, import.meta.url)`: bundlers would copy the file as an asset.
      const file = files?.readFileSync(
        new URL(import.meta.url.replace(/[^/]*$/, `${filePrefix}${kind}.wasm`)),
      );
      // Check the length: another package's file beside a bundle may have the same name.
      if (file?.length === lengths[kind]) return new Uint8Array(file);
    } catch {
      // Use the text: there is no such file.
    }
    return textOf(kind);
  };

export const decode = /* @__PURE__ */ readerOf("", decodeLengths, text.decode);
export const masks = /* @__PURE__ */ readerOf("masks.", masksLengths, text.masks);
export const prepare = /* @__PURE__ */ readerOf("prepare.", prepareLengths, text.prepare);
