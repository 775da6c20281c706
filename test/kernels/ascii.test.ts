/** The text of kernels in a bundle. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fromAscii } from "../../src/kernels/ascii.ts";

test("one character or two are a byte", () => {
  // The first and the last byte of each form, around the character that the digits leave out.
  expect([...fromAscii("%")]).toEqual([0xfd]);
  expect([...fromAscii("[")]).toEqual([51]);
  expect([...fromAscii("]")]).toEqual([52]);
  expect([...fromAscii("~")]).toEqual([85]);
  expect([...fromAscii("##")]).toEqual([86]);
  expect([...fromAscii("$l")]).toEqual([0xf9]);
  expect([...fromAscii("$o%%")]).toEqual([0xfc, 0xfd, 0xfd]);
  expect(fromAscii("")).toHaveLength(0);
});

test.each([
  ["simd", "decodeText"],
  ["prepare.simd", "prepareText"],
  ["masks.simd", "masksText"],
])("the text of %s is the file that Node reads", async (name, data) => {
  const url = new URL("../../build/kernels.mjs", import.meta.url).href;
  const text = ((await import(/* @vite-ignore */ url)) as { readonly [name: string]: string })[data];
  const file = readFileSync(new URL(`../../dist/${name}.wasm`, import.meta.url));
  expect(Buffer.from(fromAscii(text)).equals(file)).toBe(true);
  expect(text).toMatch(/^[#-[\]-~]+$/);
});
