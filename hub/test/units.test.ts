import fc from "fast-check";
import { getIntrospectionQuery, parse } from "graphql";
import { describe, expect, it } from "vitest";
import { ConfigProblems, isLoopback, readConfig } from "../src/core/config.ts";
import { newId } from "../src/core/ids.ts";
import { hashKey, KEY_PATTERN, mintKey, readKey, sameHash } from "../src/core/key.ts";
import { checkLimits, measure } from "../src/limits/document.ts";
import { redact } from "../src/core/log.ts";
import { callerOf } from "../src/http/caller.ts";
import { Buckets, decide } from "../src/limits/bucket.ts";
import { readCredentials } from "../src/auth/teamkey.ts";
import { decodeDeviceFile, parseDeviceFile } from "../src/cli/devicefile.ts";
import { cleanEmail, cleanName } from "../src/nouns/text.ts";

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

describe("ids", () => {
  it("sort by age, within one process and one millisecond too", () => {
    const ids = Array.from({ length: 10_000 }, () => newId(1_700_000_000_000));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("credentials", () => {
  it.each([
    [[], "none"],
    [[""], "malformed"],
    [["Bearer"], "malformed"],
    [["Bearer "], "malformed"],
    [["Basic dTpw"], "malformed"],
    [["Bearer a b"], "malformed"],
    [["Bearer a, Bearer b"], "malformed"],
    [["Bearer a", "Bearer b"], "malformed"],
    [["Bearer a", "Bearer a"], "malformed"],
    [["Token a"], "malformed"],
    [["Bearer a"], "bearer"],
    [["bearer a"], "bearer"],
    [["BEARER  a"], "bearer"],
  ])("%j is %s", (values, kind) => {
    expect(readCredentials(values).kind).toBe(kind);
  });
});

describe("limits on documents", () => {
  it("let the standard introspection query pass", () => {
    expect(
      checkLimits(
        parse(
          getIntrospectionQuery({
            descriptions: true,
            schemaDescription: true,
            specifiedByUrl: true,
            inputValueDeprecation: true,
          }),
        ),
      ),
    ).not.toBeInstanceOf(Array);
  });

  it("count fragments as often as they are spread", () => {
    expect(measure(parse("{ a: team { ...F ...F } } fragment F on Team { id b: name }"))).toEqual({
      depth: 2,
      fields: 5,
      aliases: 3,
      directives: 0,
    });
  });

  it("count the fields of a fragment that nobody spreads", () => {
    const wide = "devices { nodes { id } } ".repeat(140);
    for (const document of [
      `{ team { id } } fragment U on Team { ${wide} }`,
      // Spread by a fragment that nobody spreads, in either order.
      `{ team { id } } fragment U on Team { ...V } fragment V on Team { ${wide} }`,
      `fragment V on Team { ${wide} } fragment U on Team { ...V } { team { id } }`,
      // Two of one name: a spread names the last one.
      `{ team { ...U } } fragment U on Team { ${wide} } fragment U on Team { id }`,
    ])
      expect(measure(parse(document))).toMatchObject({ depth: 3, fields: 422 });
    expect(measure(parse("{ team { id } } fragment U on Team { a: id @x b: id @x }"))).toEqual({
      depth: 2,
      fields: 4,
      aliases: 2,
      directives: 2,
    });
  });

  it("measure fragments that double 60 times without doing it", () => {
    const parts = Array.from(
      { length: 60 },
      (_, i) => `fragment F${i} on Team { ${i === 59 ? "id" : `...F${i + 1} ...F${i + 1}`} }`,
    );
    const got = measure(parse(`{ team { ...F0 } } ${parts.join(" ")}`));
    expect(got).toMatchObject({ fields: 2 ** 59 + 1 });
  });

  it("name a cycle, what was got and what was expected", () => {
    expect(measure(parse("{ team { ...A } } fragment A on Team { ...B } fragment B on Team { ...A }"))).toBe("cycle");
    const errors = checkLimits(parse(`{ ${Array.from({ length: 21 }, (_, i) => `a${i}: team { id }`).join(" ")} }`));
    expect(errors).toHaveLength(1);
    expect((errors as Error[])[0]?.message).toBe("Query too large: aliases: got 21, expected at most 20.");
  });
});

describe("quotas", () => {
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

describe("configuration", () => {
  const problemsOf = (env: Record<string, string>, file?: unknown): readonly string[] => {
    try {
      readConfig(env, file);
    } catch (error) {
      if (error instanceof ConfigProblems) return error.problems;
      throw error;
    }
    return [];
  };

  it("names every problem at once, with got and expected", () => {
    const problems = problemsOf(
      {
        HUB_PORT: "70000",
        HUB_LOG_LEVEL: "loud",
        DATABASE_URL: "mysql://u:secret@h/d",
        HUB_BASE_URL: "hub.example.org/x",
      },
      { prot: 1, maxDevices: 0 },
    );
    expect(problems).toHaveLength(6);
    expect(problems.join("\n")).toContain('HUB_PORT: got "70000", expected a whole number from 0 to 65535');
    expect(problems.join("\n")).toContain("prot: got an option that does not exist");
    expect(problems.join("\n")).not.toContain("secret");
    for (const problem of problems) expect(problem).toMatch(/got .* expected /s);
  });

  it("takes the environment over the file over the default", () => {
    expect(readConfig({ HUB_PORT: "1" }, { port: 2, keyRate: 7 })).toMatchObject({
      port: 1,
      keyRate: 7,
      keyBurst: 200,
    });
    expect(readConfig({ HUB_PORT: "" }, {}).port).toBe(8787);
  });

  it("refuses an address that others reach without TLS or a declared proxy (check 21)", () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "hub.example.org"]) {
      expect(problemsOf({ HUB_HOST: host })).toHaveLength(1);
      expect(problemsOf({ HUB_HOST: host, HUB_PROXY_HOPS: "1" }).join()).toContain("baseUrl: got none");
      expect(
        problemsOf({ HUB_HOST: host, HUB_PROXY_HOPS: "1", HUB_BASE_URL: "http://hub.example.org" }).join(),
      ).toContain("expected https");
      expect(problemsOf({ HUB_HOST: host, HUB_PROXY_HOPS: "1", HUB_BASE_URL: "https://hub.example.org" })).toEqual([]);
      expect(
        problemsOf({ HUB_HOST: host, HUB_TLS_CERT: "a", HUB_TLS_KEY: "b", HUB_BASE_URL: "https://hub.example.org" }),
      ).toEqual([]);
    }
    expect(problemsOf({ HUB_TLS_CERT: "a", HUB_BASE_URL: "https://h" }).join()).toContain("expected both or neither");
    // Somebody must speak TLS: a proxy on this machine, declared or not.
    expect(readConfig({ HUB_BASE_URL: "https://hub.example.org" }).proxyHops).toBe(1);
    expect(readConfig({ HUB_BASE_URL: "https://hub.example.org", HUB_PROXY_HOPS: "2" }).proxyHops).toBe(2);
    expect(readConfig({ HUB_BASE_URL: "http://localhost:8787" }).proxyHops).toBe(0);
    for (const host of ["127.0.0.1", "127.8.9.1", "::1", "localhost"]) expect(isLoopback(host)).toBe(true);
    expect(isLoopback("127.0.0.1.example.org")).toBe(false);
  });
});

describe("texts", () => {
  it("reads device files in three forms and says what is wrong", () => {
    expect(parseDeviceFile('[{"name":"a","id":"x"},{"name":"b"}]')).toEqual([
      { name: "a", id: "x" },
      { name: "b", id: undefined },
    ]);
    expect(parseDeviceFile('{"name":"a"}\n\n{"name":"b"}\n')).toHaveLength(2);
    expect(parseDeviceFile("north\nsouth\r\n")).toEqual([{ name: "north" }, { name: "south" }]);
    expect(() => parseDeviceFile("")).toThrow("expected at least one device");
    expect(() => parseDeviceFile('{"name":"a"}\n{"nam":"b"}')).toThrow('line 2: got {"nam":"b"}');
    expect(() => parseDeviceFile("[1]")).toThrow("device 1: got 1");
    expect(parseDeviceFile(decodeDeviceFile(Buffer.from("\ufeffKüche\n")))).toEqual([{ name: "Küche" }]);
    expect(() => decodeDeviceFile(Buffer.from("Küche\n", "latin1"))).toThrow("expected UTF-8");
  });

  it("takes names that people write and no control characters", () => {
    expect(cleanName("  Küche <1> ", "name")).toBe("Küche <1>");
    for (const right of [
      "👩‍👩‍👧",
      "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "می‌خواهم",
      "\u2800x",
    ])
      expect(cleanName(right, "name")).toBe(right);
    const invisible = ["\u200b", "\u3164", "\u200d\u200d", "\u{e0041}", "\u00ad \u2060"];
    for (const wrong of [
      "",
      "   ",
      "x".repeat(101),
      "a\u0000b",
      "a\u202eb",
      "a\nb",
      "a\u2028b",
      "\ud800",
      ...invisible,
    ])
      expect(() => cleanName(wrong, "name")).toThrow(/got .* expected/);
  });

  it("takes no two email addresses that look alike for lack of ink", () => {
    expect(cleanEmail(" Ann@Exämple.org ")).toBe("ann@exämple.org");
    for (const wrong of [
      "ann\u200b@example.org",
      "ann@exam\u00adple.org",
      "ann@example.org\u2060",
      "ann\u{e0061}@example.org",
    ])
      expect(() => cleanEmail(wrong)).toThrow(/got .* expected/);
  });
});
