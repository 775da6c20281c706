import fc from "fast-check";
import { expect, test } from "vitest";
import { toBase64 } from "../../src/picture/base64.ts";

test("encodes bytes as Node does, for lengths around a group of three", () => {
  for (let length = 0; length <= 9; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => 255 - i * 37);
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    }),
  );
});
