/** Token buckets. */
import { describe, expect, it } from "vitest";
import { Buckets, decide } from "../src/bucket.ts";
import { fc } from "../src/testing/random.ts";

describe("token buckets", () => {
  it("allow a burst, then the rate", () => {
    const limit = { rate: 2, burst: 3 };
    let bucket;
    for (let i = 0; i < 3; i++) {
      const decision = decide(limit, bucket, 1000);
      expect(decision.kind).toBe("allow");
      bucket = decision.bucket;
    }
    expect(decide(limit, bucket, 1000)).toMatchObject({ kind: "deny", retryAfter: 1 });
    expect(decide(limit, bucket, 1500).kind).toBe("allow");
    expect(decide(limit, bucket, 1499).kind).toBe("deny");
  });

  it("never give more than burst + rate x time, whenever the requests come", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { maxLength: 200 }), (gaps) => {
        const quotas = new Buckets({ rate: 5, burst: 10 });
        let now = 0;
        let allowed = 0;
        for (const gap of gaps) {
          now += gap;
          if (quotas.take("a", now) === 0) allowed++;
        }
        expect(allowed).toBeLessThanOrEqual(10 + (now / 1000) * 5 + 1e-6);
      }),
    );
  });

  it("hold no more callers than they may, and forget the idlest", () => {
    const quotas = new Buckets({ rate: 0.001, burst: 1 }, 100);
    for (let i = 0; i < 100_000; i++) {
      quotas.take(`caller ${i}`, 0);
      quotas.take("busy", 0);
    }
    expect(quotas.size).toBeLessThanOrEqual(100);
    expect(quotas.take("busy", 0)).toBeGreaterThan(0);
  });

  it("hold no more callers than they may for being charged late, either", () => {
    const quotas = new Buckets({ rate: 1, burst: 10 }, 3);
    for (let i = 0; i < 10; i++) quotas.charge(`forgotten ${i}`, 0, 1);
    expect(quotas.size).toBe(3);
  });

  it("have at most one burst of debt, however dear a request was", () => {
    const quotas = new Buckets({ rate: 2, burst: 10 });
    expect(quotas.take("a", 0)).toBe(0);
    quotas.charge("a", 0, 1e6);
    expect(quotas.wait("a", 0)).toBe(6);
    expect(quotas.wait("a", 5499)).toBe(1);
    expect(quotas.take("a", 5500)).toBe(0);
  });

  it("pay a debt that is smaller than that, no less", () => {
    const quotas = new Buckets({ rate: 1, burst: 10 });
    expect(quotas.take("a", 0)).toBe(0);
    quotas.charge("a", 0, 12);
    // 10 - 1 - 12 is -3: four seconds later there is one.
    expect(quotas.wait("a", 0)).toBe(4);
    expect(quotas.wait("a", 3999)).toBe(1);
    expect(quotas.take("a", 4000)).toBe(0);
  });
});
