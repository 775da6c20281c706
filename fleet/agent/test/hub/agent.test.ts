/** The agent as a device of a hub. */
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { CONFIG, MODEL } from "../support/echo.ts";
import { identityOf, setUp } from "../support/device.ts";
import { writePhotos } from "../support/folder.ts";
import { ADOPT_KEY, FakeHub, hashOf } from "../support/hub.ts";
import { startProcess, writeSettings } from "../support/process.ts";

const BYTES = readFileSync(MODEL);
const withThreshold = (confidence_threshold: number): object => ({
  ...CONFIG,
  nn_config: {
    ...CONFIG.nn_config,
    NN_specific_metadata: { ...CONFIG.nn_config.NN_specific_metadata, confidence_threshold },
  },
});

describe("a device of a hub", () => {
  it("enrols once, keeps its credential for itself, and sends under its id and token", async () => {
    const { state, hub, host, start, send, untilToken } = await setUp();
    const tokens = new Set<string | undefined>();
    host.answer = (request) => (tokens.add(request.headers.authorization), null);
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    await untilToken();
    await send(3);
    expect(hub.enrolments).toHaveLength(1);
    expect(hub.enrolments[0]).toMatchObject({ name: "Front door", architecture: process.arch, version: "1.0.0" });
    expect(statSync(join(state, "hub.json")).mode & 0o777).toBe(0o600);
    expect(new Set([...host.stored.values()].map(({ source }) => source))).toEqual(new Set(["device:d1"]));
    expect(host.stored.values().next().value!.detections![0]).toMatchObject({ label: "cat" });
    expect([...tokens]).toEqual(["Bearer token.of-the-device.0"]);
    await until(() => hub.reports.length > 0, "the report");
    expect(hub.reports).toEqual([{ version: "doors@1", state: "applied" }]);
    await agent.close();
    await start({ hub: { url: hub.url } });
    await send(1);
    expect(hub.enrolments).toHaveLength(1);
    // A heartbeat of the second start has a larger counter, and another process.
    await until(() => new Set(hub.beats.map(({ process_id }) => process_id)).size === 2);
    const [first, last] = [hub.beats[0]!, hub.beats.at(-1)!];
    expect(last.counter).toBeGreaterThan(first.counter);
    expect(last).toMatchObject({
      application: { identifier: "doors", version: "doors@1", state: "applied" },
      host_url: `${host.url}/?source=device%3Ad1`,
    });
  });

  it("tells what it did with each heartbeat, in the interval that the hub asks for", async () => {
    const { hub, start, send } = await setUp();
    hub.interval = 1;
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    await start();
    await send(4);
    await until(() => hub.beats.at(-1)?.frames === 4, "a heartbeat with all frames");
    const { decode_ms, spool, dropped, lost, last_error } = hub.beats.at(-1)!;
    expect(decode_ms.p99).toBeGreaterThanOrEqual(decode_ms.p50!);
    expect(spool.limit).toBe(2 ** 30);
    expect({ dropped, lost, last_error }).toEqual({ dropped: 0, lost: 0, last_error: null });
    const { length } = hub.beats;
    await until(() => hub.beats.length > length + 3);
  });

  it("says at the start that a key is refused, or missing, and what to do", async () => {
    const { hub, start } = await setUp();
    await expect(start({ hub: { url: hub.url, adoptKey: "bwa_wrong-0123456789" } })).rejects.toThrow(
      /hub.adoptKey: the hub says 403: the adopt key has run out/,
    );
    await expect(start({ hub: { url: hub.url } })).rejects.toThrow(/not enrolled .*Make an adopt key/);
    await expect(start({ device: "/devices/7" })).rejects.toThrow(/device: stands beside hub/);
  });

  it("says that its clock and the hub's differ, once, and that they agree again", async () => {
    const { hub, lines, start } = await setUp();
    hub.interval = 1;
    hub.clockAhead = -3600_000;
    await start();
    await until(() => hub.beats.length > 2);
    expect(lines.filter((line) => line.includes("clocks of device and hub differ"))).toHaveLength(1);
    hub.clockAhead = 0;
    await until(() => lines.some((line) => line.includes("agree again")));
  });

  it("takes a new credential when the hub asks, and works on if the answer was lost", async () => {
    const { state, hub, start } = await setUp();
    hub.interval = 1;
    hub.wantsRotation = true;
    await start();
    await until(() => hub.seen.size === 2);
    const second = identityOf(state)["credential"]!;
    expect(hub.credentials).toContain(second);
    await until(() => identityOf(state)["previous"] === "" || identityOf(state)["previous"] === null);
    // The hub forgets the new one, as after a restore of its backup, while the device has both.
    hub.wantsRotation = true;
    hub.answer = ({ url }) => {
      if (url !== "/device/rotate") return null;
      return { status: 200, body: { credential: "bwd_never-known-0123456789" } };
    };
    await until(() => identityOf(state)["credential"] === "bwd_never-known-0123456789");
    const { length } = hub.beats;
    await until(() => hub.beats.length > length + 2);
  });

  it("says that it was revoked, works on, and comes back with a new enrolment alone", async () => {
    const { hub, host, lines, start, send } = await setUp();
    hub.interval = 1;
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    await send(1);
    hub.credentials.clear();
    await until(() =>
      agent.report.read().problems.some((text) => text.includes("refuses the credential of this device")),
    );
    expect(lines.filter((line) => line.includes("enrol it with a new adopt key"))).toHaveLength(1);
    // A host that does not know of it yet still gets its packets.
    await send(1);
    await agent.close();
    await start();
    await send(1);
    expect(hub.enrolments).toHaveLength(1);
    expect(host.stored.size).toBe(3);
  });

  it("says once that the hub is away, whatever the reasons are in turn", async () => {
    const { hub, lines, start } = await setUp();
    hub.interval = 1;
    const agent = await start();
    await until(() => hub.beats.length > 0);
    const isProblem = (pattern: RegExp): boolean =>
      pattern.test((agent.report.read()["hub"] as { problem: string | null }).problem ?? "");
    hub.answer = ({ socket }) => (socket.destroy(), { status: 200 });
    await until(() => isProblem(/closed|ECONNRESET/));
    await hub.stop();
    await until(() => isProblem(/ECONNREFUSED/));
    expect(lines.filter((line) => line.includes("cannot be reached"))).toHaveLength(1);
  });

  it("keeps its credential for a hub with another address, if that hub knows it", async () => {
    const { folder, state, hub, start } = await setUp();
    const agent = await start();
    await until(() => hub.beats.length > 0);
    await agent.close();
    const stranger = await new FakeHub().start();
    onTestFinished(() => stranger.stop());
    const path = writeSettings(folder, {
      ...{ state: "state", hub: { url: stranger.url }, sinks: [{ kind: "ndjson", path: "out" }] },
      sources: [{ kind: "folder", camera: "door", path: "photos" }],
    });
    expect((await startProcess([path]).ended).text).toContain("enrol SETTINGS.json --moved");
    const refused = await startProcess(["enrol", path, "--moved"]).ended;
    expect([refused.code, refused.text]).toEqual([2, expect.stringContaining("does not know this device")]);
    expect(identityOf(state)["hub"]).toBe(hub.url);
    const both = await startProcess(["enrol", path, "--moved", "--again"]).ended;
    expect([both.code, both.text]).toEqual([2, expect.stringContaining("--again stands beside --moved")]);
    for (const credential of hub.credentials) stranger.credentials.add(credential);
    expect((await startProcess(["enrol", path, "--moved"]).ended).text).toContain("still Front door, device:d1");
    expect(identityOf(state)).toMatchObject({ hub: stranger.url, deviceId: "d1" });
  });

  it("is not enrolled anew while its agent runs, which would write the identity of before", async () => {
    const { state, hub, start } = await setUp();
    const agent = await start();
    await until(() => hub.beats.length > 0);
    const args = ["enrol", "--hub", hub.url, "--state", state, "--key", ADOPT_KEY, "--again"];
    const refused = await startProcess(args).ended;
    expect([refused.code, refused.text]).toEqual([2, expect.stringContaining("Stop that agent")]);
    expect(identityOf(state)["deviceId"]).toBe("d1");
    await agent.close();
    expect((await startProcess(args).ended).text).toContain("enrolled as");
    expect(identityOf(state)["deviceId"]).toBe("d2");
  });

  it("works on without the hub, over a restart too, with its application and token", async () => {
    const { hub, host, start, send, untilToken } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    await untilToken();
    await send(1);
    await hub.stop();
    await send(2);
    await agent.close();
    const tokens = new Set<string | undefined>();
    host.answer = (request) => (tokens.add(request.headers.authorization), null);
    const again = await start();
    await send(2);
    expect([...tokens]).toEqual(["Bearer token.of-the-device.0"]);
    const problem = (): string => (again.report.read()["hub"] as { problem: string }).problem;
    await until(() => problem().includes("cannot be reached"), "the problem of the hub");
    expect(again.report.read().status).toBe("ok");
  });

  it("gets a new token when a host does not take the one it has", async () => {
    const { hub, host, start, send, untilToken } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    host.answer = ({ headers }) => (headers.authorization === "Bearer token.of-the-device.0" ? { status: 401 } : null);
    await start();
    await untilToken();
    await send(1);
    expect(hub.tokens).toBe(2);
  });

  it("puts packets of before its enrolment aside, since a host takes none of another source", async () => {
    const { hub, host, state, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    let isFirst = true;
    host.answer = () => {
      const answer = { status: 403, body: '{"error":"source: got another","reason":"source"}' };
      return isFirst ? ((isFirst = false), answer) : null;
    };
    await writePhotos(join(state, "..", "photos"), 1, 500);
    await send(1);
    // The agent may hear of it after the packet that was stored.
    await until(() => agent.result().lost === 1, "the packet of before");
    expect(readdirSync(join(state, "refused"))).toHaveLength(2);
  });
});

describe("an application of the hub", () => {
  it("is waited for: frames before it are not lost", async () => {
    const { folder, hub, host, start } = await setUp();
    await writePhotos(join(folder, "photos"), 3);
    const agent = await start();
    await until(() => hub.beats.length > 0);
    expect(hub.beats[0]!.application).toEqual({ identifier: null, version: null, state: "none" });
    expect(agent.report.read().problems).toEqual([
      "network: frames wait until the hub gives this device an application",
    ]);
    expect(agent.report.read()["config"]).toMatchObject({ state: "none", hash: null });
    expect(host.stored.size).toBe(0);
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    await until(() => host.stored.size === 3);
  });

  it("is replaced while frames go on, and left when the hub takes it away", async () => {
    const { hub, host, state, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: withThreshold(0.95) });
    const agent = await start();
    await send(1);
    hub.give({ etag: "doors@2", model: BYTES, config: withThreshold(0.5) });
    await until(() => hub.reports.length === 2);
    await send(1);
    expect([...host.stored.values()].map(({ detections }) => detections!.length)).toEqual([0, 1]);
    // The model is the same: it was fetched once.
    expect(hub.ranges).toEqual([""]);
    hub.give(null);
    await until(() => agent.report.read().status === "failing");
    expect(existsSync(join(state, "application.json"))).toBe(false);
    expect(readdirSync(join(state, "models"))).toEqual([]);
  });

  it("that fails is reported once with its reason, and the last good one runs on, over a restart too", async () => {
    const { hub, host, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    await send(1);
    const broken = {
      "a wrong value": [{ model: BYTES, config: withThreshold(7) }, "config", /confidence_threshold/],
      "no model file": [{ model: Buffer.from("no network at all"), config: CONFIG }, "config", /cannot be opened/],
      "nothing to run": [{ model: null, config: CONFIG }, "config", /has no model file/],
      "another network": [
        {
          model: BYTES,
          config: { nn_config: { NN_family: "mobilenet", input_size: "32x24" }, mappings: { labels: ["cat", "dog"] } },
        },
        "config",
        /expected for ssd/,
      ],
    } as const;
    await until(() => hub.reports.length === 1);
    for (const [name, [application, code, message]] of Object.entries(broken)) {
      hub.give({ etag: name.replaceAll(" ", "-"), ...application });
      await until(() => hub.reports.at(-1)!.version === name.replaceAll(" ", "-"), name);
      expect(hub.reports.at(-1), name).toEqual({
        version: name.replaceAll(" ", "-"),
        state: "failed",
        error: { code, message: expect.stringMatching(message) },
      });
      await send(1);
    }
    expect(host.stored.size).toBe(5);
    await agent.close();
    await start();
    await send(1);
    await until(() => hub.beats.at(-1)!.application.state === "failed");
    expect(hub.beats.at(-1)!.application.version).toBe("another-network");
    hub.give({ etag: "doors@9", model: BYTES, config: CONFIG });
    await until(() => hub.reports.at(-1)!.version === "doors@9");
    expect(hub.reports.at(-1)!.state).toBe("applied");
  });

  it("whose model is cut off goes on where it was cut, and one of other bytes is refused", async () => {
    const { hub, state, start, send } = await setUp();
    let cuts = 0;
    const kept = (): number =>
      statSync(join(state, "models", `${hashOf(BYTES)}.part`), { throwIfNoEntry: false })?.size ?? 0;
    hub.sendModel = (response, bytes) => {
      if (cuts === 2) return void response.end(bytes);
      const size = ++cuts * 100;
      response.write(bytes.subarray(0, 100));
      void until(() => kept() === size, "bytes on the disk of the device").then(() => response.destroy());
    };
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    await start();
    await send(1);
    expect(hub.ranges).toEqual(["", "bytes=100-", "bytes=200-"]);
    hub.sendModel = (response, bytes) => void response.end(bytes.map((byte) => byte ^ 1));
    hub.give({ etag: "doors@2", model: Buffer.concat([BYTES, Buffer.alloc(1)]), config: CONFIG });
    await until(() => hub.reports.length === 2);
    expect(hub.reports[1]).toMatchObject({ version: "doors@2", state: "failed", error: { code: "model" } });
    await send(1);
  });

  it("that the hub has deleted is left for the next one, though the hub refuses its report", async () => {
    const { hub, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    let refused = 0;
    hub.answer = (request) => {
      if (request.url !== "/device/report" || refused > 0) return null;
      refused++;
      return { status: 400, body: { errors: [{ message: "expected one that the hub gave" }] } };
    };
    await start();
    await send(1);
    await until(() => refused === 1);
    hub.give({ etag: "doors@2", model: BYTES, config: withThreshold(0.3) });
    await until(() => hub.reports.length === 1);
    expect(hub.reports).toEqual([{ version: "doors@2", state: "applied" }]);
  });

  it("that ends the process three times before a frame is left for the last good one", async () => {
    const { hub, state, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    const agent = await start();
    await send(1);
    await until(() => hub.reports.length === 1, "the report");
    await agent.close();
    const kept = JSON.parse(readFileSync(join(state, "application.json"), "utf8")) as object;
    // Three starts without a frame leave these files.
    const next = JSON.stringify({ ...kept, etag: "doors@2", config: withThreshold(0.3) });
    writeFileSync(join(state, "application.json"), next);
    writeFileSync(
      join(state, "application.starts.json"),
      JSON.stringify({ content: hashOf(Buffer.from(next)), starts: 3 }),
    );
    hub.give({ etag: "doors@2", model: BYTES, config: withThreshold(0.3) });
    hub.reports.length = 0;
    await start();
    await until(() => hub.reports.length > 0);
    expect(hub.reports[0]).toMatchObject({ version: "doors@2", state: "failed", error: { code: "crashed" } });
    await send(1);
  });

  it("goes before the files of the settings, which run while the hub gives none", async () => {
    const { folder, hub, host, start, send } = await setUp();
    writeFileSync(join(folder, "config.json"), JSON.stringify(withThreshold(0.95)));
    const agent = await start({ network: { model: MODEL, config: "config.json" } });
    await send(1);
    const hash = (): unknown => (agent.report.read()["config"] as { hash: string }).hash;
    const ofFiles = hash();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    await until(() => hub.reports.length === 1, "the report");
    await send(1);
    hub.give(null);
    await until(() => hash() === ofFiles, "the config of the files");
    await send(1);
    expect([...host.stored.values()].map(({ detections }) => detections!.length)).toEqual([0, 1, 0]);
  });
});

describe("snaps", () => {
  const rule = { name: "a cat", class: "cat", min_confidence: 0.5, per_hour: 3600 };
  const shown = (hub: FakeHub): string[] =>
    [...hub.snaps.values()]
      .filter(({ files }) => files.every(({ sha256 }) => hub.files.has(sha256)))
      .map(({ name }) => name);

  it.each(["detection", "raw"])("are sent by the rules of the application, output_format %s", async (output_format) => {
    const { hub, start, send } = await setUp();
    const config = { ...CONFIG, nn_config: { ...CONFIG.nn_config, output_format } };
    const snaps = [
      { ...rule, name: "a dog", class: "dog" },
      { ...rule, name: "sure", min_confidence: 0.99 },
      { ...rule, per_hour: 1 },
    ];
    hub.give({ etag: "doors@1", model: BYTES, config, snaps });
    await start();
    await send(1);
    await until(() => shown(hub).length === 1);
    await send(3);
    // One an hour, however many cats there are.
    expect(shown(hub)).toEqual(["a cat"]);
    const [snap] = hub.snaps.values();
    expect(snap).toMatchObject({
      tags: ["cat"],
      extras: { camera: "door" },
      application: "doors",
      event: { source: "device:d1", subject: "door", specversion: "1.0" },
      files: [{ name: "frame.jpg", content_type: "image/jpeg" }],
    });
    expect(JSON.stringify(snap!.event)).toContain('"label":"cat"');
    const jpeg = hub.files.get(snap!.files[0]!.sha256)!;
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: "jpeg", width: 32, height: 24 });
  });

  it("are sent when somebody asks, of the next frame", async () => {
    const { hub, start, send } = await setUp();
    hub.interval = 1;
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG });
    await start();
    await send(1);
    hub.wantsSnap = true;
    await until(() => !hub.wantsSnap, "the heartbeat that hears of it");
    // With the next heartbeat the agent has read the answer to that one.
    const { length } = hub.beats;
    await until(() => hub.beats.length > length, "the next heartbeat");
    await send(1);
    await until(() => shown(hub).length === 1);
    await send(1);
    expect(shown(hub)).toEqual(["requested"]);
  });

  it("wait on disk while the hub is away, over a restart, as many as there is room for", async () => {
    const { hub, lines, state, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG, snaps: [{ ...rule, per_hour: 1e9 }] });
    hub.answer = ({ url }) => (url === "/device/snaps" ? { status: 503 } : null);
    const { url } = hub;
    const agent = await start({ hub: { url, adoptKey: ADOPT_KEY, snapBytes: 5000 } });
    const waiting = (): number => readdirSync(join(state, "snaps")).filter((name) => name.endsWith(".json")).length;
    for (let n = 0; !lines.some((line) => line.includes("dropped the oldest snap")); n++) {
      await send(1);
      await until(() => waiting() > 0);
      expect(n).toBeLessThan(30);
    }
    const bytes = readdirSync(join(state, "snaps")).map((name) => statSync(join(state, "snaps", name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(5000);
    await agent.close();
    const count = waiting();
    hub.answer = () => null;
    await start({ hub: { url } });
    await until(() => waiting() === 0, "an empty folder of snaps");
    expect(shown(hub).length).toBeGreaterThanOrEqual(count);
  });

  it("that the hub never takes are dropped, so that the next one is sent", async () => {
    const { hub, lines, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG, snaps: [{ ...rule, per_hour: 1e9 }] });
    let refused = 0;
    hub.answer = ({ url }) =>
      url === "/device/snaps" && refused++ === 0
        ? { status: 413, body: { errors: [{ message: "the snap is too large" }] } }
        : null;
    await start();
    await send(1);
    await until(() => lines.some((line) => line.includes("snap refused: the hub says 413: the snap is too large")));
    await send(1);
    await until(() => shown(hub).length === 1);
  });

  it("that another device sends at the same moment, with the same picture, are sent again", async () => {
    const { hub, lines, start, send } = await setUp();
    hub.give({ etag: "doors@1", model: BYTES, config: CONFIG, snaps: [{ ...rule, per_hour: 1 }] });
    let refused = 0;
    hub.answer = ({ method }) =>
      method === "PUT" && refused++ === 0
        ? {
            ...{ status: 409, headers: { "retry-after": "1" } },
            body: { errors: [{ message: "another request sends this file now" }] },
          }
        : null;
    await start();
    await send(1);
    await until(() => shown(hub).length === 1);
    expect(lines.filter((line) => line.includes("snap refused"))).toEqual([]);
  });
});
