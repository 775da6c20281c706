/** The kernels in pages, in Deno and in bundles: the vector builds as text. Browsers have vectors. */
import { decodeText, masksText, prepareText } from "kernel-data";
import { fromAscii } from "./ascii.ts";
import type { WasmKind } from "./kernel.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns a function that returns the vector build, and null for the scalar one. */
const carriedBy =
  (text: string) =>
  (kind: WasmKind): Bytes | null =>
    kind === "simd" ? fromAscii(text) : null;

export const decode = /* @__PURE__ */ carriedBy(decodeText);
export const masks = /* @__PURE__ */ carriedBy(masksText);
export const prepare = /* @__PURE__ */ carriedBy(prepareText);
