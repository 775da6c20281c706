/** Bodies between hub, agent and host: what passes, and what is told of what does not. */
import { describe, expect, it } from "vitest";
import {
  readDesiredConfig,
  readEnrolRequest,
  readHeartbeat,
  readHubDocument,
  readReport,
  type Heartbeat,
} from "../../src/schema/protocol.ts";

const beat: Heartbeat = {
  counter: 7,
  process_id: "p-1",
  version: "1.0.0",
  model: "Pi 5",
  architecture: "arm64",
  time: "2026-11-25T23:05:00.000Z",
  application: { identifier: null, version: null, state: "none" },
  frames: 10,
  dropped: 0,
  lost: 0,
  decode_ms: { p50: 1.5, p99: null },
  spool: { bytes: 0, limit: 1000, frames: 0 },
  last_error: "camera away",
  network_interfaces: [{ name: "eth0", ipv4: "10.0.0.2", mac: "aa:bb:cc:dd:ee:ff" }],
  host_url: "http://localhost:8080/",
};

describe("rules for snaps", () => {
  const rule = { name: "person", min_confidence: 0.5, per_hour: 10 };
  const read = (part: object) =>
    readDesiredConfig({
      application: { identifier: "gate", name: "Gate", version: 1, hash: "x" },
      ...{ config: null, options: {}, model: null, snaps: [{ ...rule, ...part }] },
    });

  it("say which field is wrong, and what it should be", () => {
    expect(read({}).snaps).toEqual([rule]);
    expect(() => read({ min_confidence: 1.5 })).toThrow(
      "snaps[0].min_confidence: got 1.5, expected a number from 0 to 1",
    );
    expect(() => read({ min_confidence: undefined })).toThrow("snaps[0].min_confidence");
    expect(() => read({ per_hour: 0.5 })).toThrow("snaps[0].per_hour: got 0.5, expected a whole number from 0");
  });
});

describe("a heartbeat", () => {
  it("passes whole, and with fields that a newer agent may have", () => {
    expect(readHeartbeat({ ...beat, new_field: [1] })).toEqual({
      ...beat,
      application: { ...beat.application, error: undefined },
    });
  });

  it.each([
    [{ counter: -1 }, "counter: got -1, expected a whole number from 0"],
    [{ counter: 1.5 }, "counter: got 1.5"],
    [{ process_id: "a b" }, "process_id: got"],
    [{ version: "x".repeat(65) }, "version: got"],
    [{ model: "" }, "model: got"],
    [{ time: "yesterday" }, "time: got"],
    [{ time: "2026-11-25T23:05:00" }, "with its offset"],
    [{ application: { state: "odd" } }, "application.state: got"],
    [{ application: { state: "applied", version: 'a"b' } }, "application.version: got"],
    [{ decode_ms: { p50: -1 } }, "decode_ms.p50: got"],
    [{ decode_ms: [] }, "decode_ms: got"],
    [{ spool: { bytes: 1, limit: 2 } }, "spool.frames: got"],
    [{ host_url: "javascript:alert(1)" }, "host_url: got"],
    [{ host_url: "http://user:pw@h/" }, "host_url: got"],
    [{ network_interfaces: Array.from({ length: 17 }, () => ({ name: "x" })) }, "network_interfaces: got"],
  ])("is refused with %j", (part, message) => {
    expect(() => readHeartbeat({ ...beat, ...part })).toThrow(message);
  });

  it("has no control characters in its texts", () => {
    expect(readHeartbeat({ ...beat, last_error: "a\u001b[31mb\nc" }).last_error).toBe("a [31mb c");
  });
});

describe("other bodies", () => {
  it("of an enrolment repeat no key in a message", () => {
    const key = "bwa_secret";
    expect(() => readEnrolRequest({ adopt_key: key, name: "" })).toThrow(/^name: got ""/);
    expect(() => readEnrolRequest({ adopt_key: { key } })).toThrow("adopt_key: got none, expected a text");
    expect(() => readEnrolRequest([])).toThrow("body: got [], expected a JSON object");
  });

  it("of a report name a version and a state", () => {
    expect(readReport({ version: "abc", state: "failed", error: { code: "x", message: "" } })).toEqual({
      version: "abc",
      state: "failed",
      error: { code: "x", message: "" },
    });
    expect(() => readReport({ version: "abc", state: "none" })).toThrow("state: got");
  });

  it("of a hub's document name each revoked device", () => {
    const document = { issuer: "https://hub.example.org", keys: [], revoked: [] };
    expect(readHubDocument(document)).toEqual(document);
    expect(() => readHubDocument({ ...document, revoked: [{ device_id: "d" }] })).toThrow("revoked[0].before: got");
    // Pages of this address may frame those of a host.
    expect(() => readHubDocument({ ...document, issuer: "x" })).toThrow('issuer: got "x", expected an address');
  });
});
