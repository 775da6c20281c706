/** The address that limits count by. */
import { describe, expect, it } from "vitest";
import { callerOf } from "../../src/http/caller.ts";

describe("callers", () => {
  it("count the address that a proxy reports, and not the port behind it", () => {
    expect(callerOf("198.51.100.1:4711")).toBe("198.51.100.1");
    expect(callerOf("[2001:db8::1]:4711")).toBe(callerOf("2001:db8::2"));
    expect(callerOf("[2001:db8::1]")).toBe(callerOf("2001:db8::2"));
  });

  it("hold no more of what somebody writes in place of an address than an address is long", () => {
    for (const written of ["x".repeat(10_000), ":".repeat(10_000), `[${"f".repeat(10_000)}`])
      expect(callerOf(written).length).toBeLessThanOrEqual(70);
    expect(callerOf("2001:0db8:0000:0000:0000:ffff:198.051.100.001")).toBe("2001:db8:0:0::/64");
  });

  it("count IPv6 by its /64 and IPv4 as it is", () => {
    expect(callerOf("2001:db8::1")).toBe(callerOf("2001:0db8:0:0:ffff::2"));
    expect(callerOf("2001:db8:0:1::1")).not.toBe(callerOf("2001:db8::1"));
    expect(callerOf("::ffff:10.0.0.1")).toBe("10.0.0.1");
    expect(callerOf("::1")).toBe(callerOf("0:0:0:0:0:0:0:2"));
  });
});
