/** The configuration is checked whole. */
import { describe, expect, it } from "vitest";
import { ConfigProblems, isLoopback } from "boxwright-service/schema/options";
import { readConfig } from "../../src/core/config.ts";

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
    for (const problem of problems) expect(problem).toMatch(/got .*( expected |Did you mean)/s);
  });

  it("tells a misspelt variable, and an address in place of a file without its password", () => {
    expect(problemsOf({ HUB_DATABSE_FILE: "h.db", HUB_URL: "http://h", HUB_PORT_80_TCP: "tcp://h" })).toEqual([
      "HUB_DATABSE_FILE: got a variable that nobody reads. Did you mean HUB_DATABASE_FILE?",
    ]);
    for (const file of ["postgress://a:hunter2@h/x", "postgres://a:hunter2@h/x"]) {
      const [problem] = problemsOf({ HUB_DATABASE_FILE: file });
      expect(problem).toMatch(/^HUB_DATABASE_FILE: got an address/);
      expect(problem).not.toContain("hunter2");
    }
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
      expect(problemsOf({ HUB_HOST: host, HUB_PROXY_HOPS: "1" }).join()).toContain("baseUrl (HUB_BASE_URL): got none");
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
