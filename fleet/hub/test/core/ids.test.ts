/** Ids that the hub makes. */
import { describe, expect, it } from "vitest";
import { newId } from "../../src/core/ids.ts";

describe("ids", () => {
  it("sort by age, within one process and one millisecond too", () => {
    const ids = Array.from({ length: 10_000 }, () => newId(1_700_000_000_000));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
