/** API keys as bytes. */
import { fc } from "boxwright-service/testing/random";
import { describe, expect, it } from "vitest";
import { hashKey, KEY_PATTERN, mintKey, readKey, sameHash } from "../../src/core/key.ts";
import { redact } from "../../src/core/log.ts";

describe("keys", () => {
  it("have the published form, a public id and a checksum", () => {
    for (let i = 0; i < 200; i++) {
      const { key, id, hash } = mintKey();
      expect(key).toMatch(/^hub_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
      expect(KEY_PATTERN.exec(`before "${key}" after`)?.[0]).toBe(key);
      expect(readKey(key)).toBe(id);
      expect(key.slice(4, 16)).toBe(id);
      expect(hash).toBe(hashKey(key));
      expect(sameHash(hash, hashKey(key))).toBe(true);
    }
  });

  it("use each digit about equally often", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i++) for (const c of mintKey().key.slice(17, 49)) counts.set(c, (counts.get(c) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 64,000 digits, 1032 of each expected, standard deviation 32: six of them either way.
    for (const count of counts.values()) expect(Math.abs(count - 1032)).toBeLessThan(200);
  });

  it("are refused when any one character differs, whatever it becomes", () => {
    const other = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-");
    fc.assert(
      fc.property(fc.nat(54), other, (at, character) => {
        const { key } = mintKey();
        fc.pre(key[at] !== character);
        expect(readKey(key.slice(0, at) + character + key.slice(at + 1))).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });

  it("are refused when cut, lengthened or padded", () => {
    const { key } = mintKey();
    for (const wrong of ["", key.slice(1), key.slice(0, -1), key + "0", ` ${key}`, `${key}\n`, key.toUpperCase()])
      expect(readKey(wrong)).toBeUndefined();
  });

  it("never pass through a log text", () => {
    const { key, id } = mintKey();
    const text = redact(`failed for Bearer ${key}x and ${key}`);
    expect(text).not.toContain(key.slice(17));
    expect(text).toContain(id);
  });
});
