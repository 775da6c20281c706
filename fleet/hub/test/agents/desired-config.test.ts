/** GET /device/config, POST /device/report, GET /device/models: what a device is given, and what it says of it. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { adoptKey, Agent } from "../support/agent.ts";
import { startHub, type TestHub, onDatabases } from "../support/hub.ts";

const CONFIG = { family: "yolov8", classes: 2, inputSize: [320, 320] };
const model = readFileSync(fileURLToPath(new URL("../../../../test/fixtures/models/yolox_nano.onnx", import.meta.url)));
const sha256 = createHash("sha256").update(model).digest("hex");

onDatabases("what a device should run", (kind) => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startHub({ kind });
  });
  afterAll(() => hub.stop());

  /** Runs a mutation of the team, and returns the result of its only field. */
  async function mutate(text: string, variables: object = {}, key = hub.key): Promise<any> {
    const body = JSON.stringify({ query: `mutation ${text}`, variables });
    const { json } = await hub.query("", key, { body });
    if (json.errors !== undefined) throw new Error(JSON.stringify(json.errors));
    return Object.values(json.data.team)[0];
  }
  const createApp = async (name: string): Promise<string> =>
    (
      await mutate("($name: String!) { team { createApp(name: $name) { status failedMessage app { id } } } }", {
        name,
      })
    ).app.id;
  const SAVE =
    "($app: ID!, $config: JSON, $options: JSON, $model: String, $newest: Int) { team { saveAppVersion(appId: $app, config: $config, options: $options, modelSha256: $model, ifNewest: $newest) { status failedMessage isNew version { number etag description } } } }";
  const save = (app: string, more: object) => mutate(SAVE, { app, ...more });
  const assign = (app: string, version: number, deviceId: string) =>
    mutate(
      "($app: ID!, $version: Int!, $device: ID) { team { assignApp(appId: $app, version: $version, deviceId: $device) { status failedMessage assignment { revision } } } }",
      { app, version, device: deviceId },
    );
  const config = (agent: Agent, headers: Record<string, string> = {}) =>
    agent.ask("/device/config", { method: "GET", headers });
  const isHeld = (): Promise<void> => until(() => hub.running.app.desired.waiting === 1, "a request that waits");
  const upload = (path: string, body: Buffer, headers: Record<string, string> = {}) =>
    fetch(hub.url + path, {
      method: "PUT",
      body: new Uint8Array(body),
      headers: { authorization: `Bearer ${hub.key}`, ...headers },
    });

  it("stops a roll-out by a heartbeat too, when a network fails later or a report is lost", async () => {
    const [first, second] = [await Agent.enrol(hub), await Agent.enrol(hub)];
    const app = await createApp("Late");
    const { etag } = (await save(app, { config: CONFIG })).version;
    await save(app, { config: { ...CONFIG, confidenceThreshold: 0.7 } });
    const made = await mutate('{ team { createDeviceGroup(name: "late") { deviceGroup { id } } } }');
    const group = made.deviceGroup.id as string;
    for (const { id } of [first, second])
      await mutate(
        "($group: ID!, $id: ID!) { team { deviceGroupAddDevice(deviceGroupId: $group, deviceId: $id) { status } } }",
        { group, id },
      );
    const give = (version: number, share: number) =>
      mutate(
        "($app: ID!, $version: Int!, $group: ID!, $share: Int) { team { assignApp(appId: $app, version: $version, groupId: $group, share: $share, failureLimit: 2) { status failedMessage } } }",
        { app, version, group, share },
      );
    const rollout = async (): Promise<any> => {
      const { json } = await hub.query(
        `{ team { app(appId: "${app}") { assignments { rolloutState rolloutFailureLimit rolloutProgress { devices applied failed waiting offline } } } } }`,
      );
      return json.data.team.app.assignments[0];
    };
    expect(await give(2, 100)).toMatchObject({ status: "SUCCESS" });
    // 99 % of two devices: nearly always both. Choose a roll-out in which they are.
    do await give(1, 99);
    while ((await rollout()).rolloutProgress.devices < 2 && (await give(2, 100)));
    const beat = async (agent: Agent, state: "applied" | "failed", version = etag) => {
      const application = {
        identifier: "late",
        version,
        state,
        error: { code: "crashed", message: "the process ended" },
      };
      const { status } = await agent.beat({ application });
      expect(status).toBe(200);
      await hub.running.app.heartbeats.flush(hub.storage.db);
    };
    await first.ask("/device/report", { json: { version: etag, state: "applied" } });
    await beat(first, "applied");
    await beat(second, "applied", "late:0123456789abcdef");
    expect(await rollout()).toEqual({
      ...{ rolloutState: "RUNNING", rolloutFailureLimit: 2 },
      rolloutProgress: { devices: 2, applied: 1, failed: 0, waiting: 1, offline: 0 },
    });
    await beat(first, "failed");
    await beat(first, "failed");
    expect(await rollout()).toMatchObject({ rolloutState: "RUNNING", rolloutProgress: { applied: 0, failed: 1 } });
    await beat(second, "failed");
    expect(await rollout()).toMatchObject({ rolloutState: "STOPPED", rolloutProgress: { failed: 2, waiting: 0 } });
    expect((await first.beat()).json.desired_version).not.toBe(etag);
    // Judging the credential: what is no news costs nothing more.
    expect(await hub.queriesOf(() => beat(second, "failed"))).toBe(1);
  });

  it("comes with its ETag, waits for a change, and is told by heartbeats too", async () => {
    const agent = await Agent.enrol(hub);
    expect((await config(agent)).status).toBe(204);
    const app = await createApp("Gate");
    const first = await save(app, { config: CONFIG });
    expect(first).toMatchObject({ status: "SUCCESS", isNew: true, version: { number: 1 } });
    expect(first.version.description).toContain("yolov8");
    const second = await save(app, { config: { ...CONFIG, confidenceThreshold: 0.9 }, newest: 1 });
    // A device with nothing waits for its first one.
    const waiting = config(agent, { prefer: "wait=50" });
    await isHeld();
    expect(await assign(app, 1, agent.id)).toMatchObject({ status: "SUCCESS", assignment: { revision: 1 } });
    const got = await waiting;
    expect([got.status, got.headers.get("etag"), got.headers.get("preference-applied")]).toEqual([
      ...[200, `"${first.version.etag}"`, "wait=50"],
    ]);
    expect(got.json).toMatchObject({
      application: { identifier: "gate", name: "Gate", version: 1 },
      ...{ config: CONFIG, options: {}, model: null, snaps: [] },
    });
    expect(got.json.application.hash).toMatch(/^[0-9a-f]{64}$/);
    expect((await agent.beat()).json.desired_version).toBe(first.version.etag);

    const etag = `"${first.version.etag}"`;
    expect((await config(agent, { "if-none-match": etag })).status).toBe(304);
    const next = config(agent, { "if-none-match": etag, prefer: "respond-async, wait=50" });
    await isHeld();
    const held = hub.requests.at(-1)!;
    const { ownQueries } = hub.db;
    await until(() => hub.db.ownQueries > ownQueries, "the hub's look for changes of other hubs");
    // Judging the credential is all that it asked the database.
    expect(held).toEqual({ queries: 1 });
    await assign(app, 2, agent.id);
    expect((await next).headers.get("etag")).toBe(`"${second.version.etag}"`);
    // Back to the first one.
    await assign(app, 1, agent.id);
    expect((await config(agent, { "if-none-match": `"${second.version.etag}"` })).json.application.version).toBe(1);
    await mutate("($d: ID) { team { unassignApp(deviceId: $d) { status } } }", { d: agent.id });
    expect((await config(agent, { "if-none-match": etag, prefer: "wait=50" })).status).toBe(204);
  });

  it("answers many that waited with one look-up of the version, and one of each credential", async () => {
    const agents = await Promise.all(Array.from({ length: 12 }, () => Agent.enrol(hub)));
    const app = await createApp("Many");
    await save(app, { config: CONFIG });
    const made = await mutate('{ team { createDeviceGroup(name: "many") { deviceGroup { id } } } }');
    const group = made.deviceGroup.id as string;
    const tick =
      "($group: ID!, $id: ID!) { team { deviceGroupAddDevice(deviceGroupId: $group, deviceId: $id) { status } } }";
    for (const { id } of agents) await mutate(tick, { group, id });
    // Their first requests note the first use of the credential.
    for (const agent of agents) await config(agent);
    const give = "($app: ID!, $group: ID) { team { assignApp(appId: $app, version: 1, groupId: $group) { status } } }";
    const queries = await hub.queriesOf(async () => {
      const waiting = Promise.all(agents.map((agent) => config(agent, { prefer: "wait=50" })));
      await until(() => hub.running.app.desired.waiting === agents.length, "all devices to wait");
      expect(await mutate(give, { app, group })).toEqual({ status: "SUCCESS" });
      const answers = await waiting;
      expect(answers.map(({ status }) => status)).toEqual(agents.map(() => 200));
      expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(1);
    });
    // Each credential is judged twice. The version costs 2, and giving it about 12.
    expect(queries).toBeLessThanOrEqual(2 * agents.length + 2 + 16);
    await mutate("($group: ID) { team { unassignApp(groupId: $group) { status } } }", { group });
  });

  it("gives nothing to a device that was revoked while it waited, and none to another team's", async () => {
    const agent = await Agent.enrol(hub);
    const app = await createApp("Revoked");
    await save(app, { config: CONFIG });
    const waiting = config(agent, { prefer: "wait=50" });
    await isHeld();
    await hub.storage.db.write((tx) => tx.all("DELETE FROM device_credentials WHERE device_id = ?", [agent.id]));
    await assign(app, 1, agent.id);
    expect((await waiting).status).toBe(401);

    const other = await hub.makeTeam("Other", []);
    const theirs = await Agent.enrol(hub, await adoptKey(hub, {}, other.team.id));
    expect(await assign(app, 1, theirs.id)).toMatchObject({ status: "FAILED" });
    expect((await config(theirs)).status).toBe(204);
    const query = "($app: ID!) { team { app(appId: $app) { id } } }";
    const body = JSON.stringify({ query: `query ${query}`, variables: { app } });
    expect((await hub.query("", other.key, { body })).json.data.team.app).toBe(null);
  });

  it("is refused with boxwright's own words, and an older change too", async () => {
    const app = await createApp("Broken");
    const wrong = await save(app, { config: { ...CONFIG, family: "yolov99" } });
    expect(wrong).toMatchObject({ status: "FAILED", version: null });
    expect(wrong.failedMessage).toMatch(/family.*yolov99/);
    expect((await save(app, { config: "{", options: 3 })).failedMessage).toMatch(/^config: got text.*\noptions: got 3/);
    expect((await save(app, {})).failedMessage).toContain("neither a config nor a model file");
    // Options are checked before a model is there.
    const early = (await save(app, { options: { confidence: 0.5, maxDetections: -1, labels: ["a", "b"] } }))
      .failedMessage;
    expect(early).toContain("did you mean confidenceThreshold?");
    expect(early).toContain("options.maxDetections: got -1");
    expect(early).not.toContain("options.labels");
    expect((await save(app, { config: CONFIG, model: "0".repeat(64) })).failedMessage).toContain("has sent");
    await save(app, { config: CONFIG });
    const late = await save(app, { config: { ...CONFIG, classes: 3 }, newest: 0 });
    expect(late.failedMessage).toContain("got a change of version 0, expected one of version 1");
  });

  it("keeps what a device reports, once, and shows it", async () => {
    const agent = await Agent.enrol(hub);
    const app = await createApp("Reported");
    const { version } = await save(app, { config: CONFIG });
    await assign(app, 1, agent.id);
    const report = (json: object) => agent.ask("/device/report", { json });
    const error = { code: "config", message: "the outputs do not fit" };
    expect((await report({ version: `"${version.etag}"`, state: "failed", error })).status).toBe(204);
    expect((await report({ version: version.etag, state: "applied" })).status).toBe(204);
    const query = `query { team { app(appId: "${app}") { newestVersion { appliedCount failedCount } assignments { deviceId version } } } }`;
    expect((await hub.query(query)).json.data.team.app).toEqual({
      newestVersion: { appliedCount: 1, failedCount: 0 },
      assignments: [{ deviceId: agent.id, version: 1 }],
    });
    for (const body of [
      {},
      null,
      { version: "x:0123456789abcdef", state: "applied" },
      { version: version.etag, state: "?" },
    ])
      expect((await report(body as object)).status).toBe(400);
  });

  it("is read by GraphQL as soon as it was given, and what a device says as soon as that was answered", async () => {
    const agent = await Agent.enrol(hub);
    const app = await createApp("At once");
    const { version } = await save(app, { config: CONFIG });
    const beside = await startHub({ storage: { ...hub.storage, db: hub.storage.again(), remove: async () => {} } });
    const read = async (url: string): Promise<any> => {
      const query = `{ team { device(deviceId: "${agent.id}") { desiredApplication { identifier version number } application { identifier version state error { code message } } } devices(filter: { only: FAILED }) { nodes { id } } } }`;
      const headers = { authorization: `Bearer ${hub.key}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) });
      const { device, devices } = (await answer.json()).data.team;
      return { ...device, failed: devices.nodes.some(({ id }: { id: string }) => id === agent.id) };
    };
    const nothing = { desiredApplication: null, application: null, failed: false };
    for (const url of [hub.url, beside.url]) expect(await read(url)).toEqual(nothing);
    const desiredApplication = { identifier: "at-once", version: version.etag, number: 1 };
    for (const [number, wanted] of [
      [1, desiredApplication],
      [2, { ...desiredApplication, number: 2, version: expect.not.stringContaining(version.etag) }],
    ] as const) {
      if (number === 2) await save(app, { config: { ...CONFIG, confidenceThreshold: 0.6 } });
      await assign(app, number, agent.id);
      // Another process on the database too: it would look for changes only once a second.
      expect((await read(beside.url)).desiredApplication).toEqual(wanted);
      expect((await read(hub.url)).desiredApplication).toEqual(wanted);
    }
    const error = { code: "shape", message: "the outputs do not fit" };
    const told = { identifier: "at-once", version: version.etag };
    expect((await agent.ask("/device/report", { json: { ...told, state: "failed", error } })).status).toBe(204);
    const failed = { application: { ...told, state: "FAILED", error }, failed: true };
    for (const url of [hub.url, beside.url]) expect(await read(url)).toMatchObject(failed);
    // A batch with an older heartbeat does not bring the earlier state back.
    await agent.beat({ application: { ...told, state: "applied" } });
    expect(await read(beside.url)).toMatchObject({ application: { state: "APPLIED", error: null }, failed: false });
    await agent.ask("/device/report", { json: { ...told, state: "failed", error } });
    await hub.running.app.heartbeats.flush(hub.storage.db);
    expect(await read(beside.url)).toMatchObject(failed);
    await agent.beat({ application: { identifier: null, version: null, state: "none" } });
    expect(await read(hub.url)).toMatchObject({ application: null, failed: false });
    await beside.stop();
  });

  it("comes with its model file: sent in parts, checked, given in parts", async () => {
    const path = `/models/${sha256}?name=yolox.onnx`;
    const head = () => fetch(hub.url + path, { method: "HEAD", headers: { authorization: `Bearer ${hub.key}` } });
    expect((await head()).status).toBe(404);
    const middle = 100_000;
    const length = { "upload-length": String(model.length) };
    const begun = await upload(path, model.subarray(0, middle), length);
    expect([begun.status, begun.headers.get("upload-offset")]).toEqual([202, String(middle)]);
    expect((await head()).headers.get("upload-offset")).toBe(String(middle));
    const again = await upload(path, model.subarray(5), { ...length, "upload-offset": "5" });
    expect([again.status, again.headers.get("upload-offset")]).toEqual([409, String(middle)]);
    const rest = await upload(path, model.subarray(middle), { ...length, "upload-offset": String(middle) });
    expect([rest.status, await rest.json()]).toEqual([201, { sha256, size: model.length, name: "yolox.onnx" }]);
    expect((await head()).headers.get("upload-complete")).toBe("?1");

    const app = await createApp("With a model");
    const saved = await save(app, { model: sha256, options: { family: "yolox", labels: "coco80" } });
    expect(saved).toMatchObject({ status: "SUCCESS" });
    expect(saved.version.description).toMatch(/yolox/);
    expect((await save(app, { model: sha256, options: { family: "yolov5" } })).status).toBe("FAILED");
    const agent = await Agent.enrol(hub);
    await assign(app, 1, agent.id);
    expect((await config(agent)).json.model).toEqual({ sha256, size: model.length, name: "yolox.onnx" });
    const get = async (headers: Record<string, string>, of = sha256) => {
      const answer = await fetch(`${hub.url}/device/models/${of}`, {
        headers: { authorization: `Bearer ${agent.credential}`, ...headers },
      });
      return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    const whole = await get({});
    expect([whole.status, whole.bytes.equals(model), whole.headers.get("etag")]).toEqual([200, true, `"${sha256}"`]);
    const part = await get({ range: `bytes=${middle}-` });
    expect([part.status, part.bytes.equals(model.subarray(middle))]).toEqual([206, true]);
    expect(part.headers.get("content-range")).toBe(`bytes ${middle}-${model.length - 1}/${model.length}`);
    expect((await get({ range: "bytes=-10" })).bytes).toEqual(model.subarray(-10));
    expect((await get({ range: `bytes=${model.length}-` })).status).toBe(416);
    expect((await get({}, "0".repeat(64))).status).toBe(404);
    expect((await get({}, "..%2f..%2fetc%2fpasswd")).status).toBe(404);

    // A hub that was restored elsewhere: its versions name a file whose bytes were left behind.
    rmSync(join(hub.storage.filesFolder, hub.team.id, "models", sha256));
    const gone = await get({});
    expect([gone.status, gone.headers.get("retry-after")]).toEqual([503, "30"]);
    const told = await head();
    expect([told.headers.get("upload-offset"), told.headers.get("upload-complete")]).toEqual(["0", "?0"]);
    // While one request sends the file, another is told to wait.
    const first = request(hub.url + path, {
      method: "PUT",
      headers: { authorization: `Bearer ${hub.key}`, "content-length": String(model.length) },
    });
    const answered = once(first, "response") as Promise<[IncomingMessage]>;
    first.write(model.subarray(0, middle));
    while ((await head()).headers.get("upload-offset") !== String(middle));
    const second = await upload(path, Buffer.alloc(0), { ...length, "upload-offset": String(middle) });
    expect([second.status, second.headers.get("retry-after")]).toEqual([409, "1"]);
    first.end(model.subarray(middle));
    const [finished] = await answered;
    expect(finished.resume().statusCode).toBe(201);
    expect((await get({})).bytes.equals(model)).toBe(true);

    const other = await hub.makeTeam("No models", []);
    const theirs = await Agent.enrol(hub, await adoptKey(hub, {}, other.team.id));
    expect((await theirs.ask(`/device/models/${sha256}`, { method: "GET" })).status).toBe(404);
  });

  it("refuses a text file, which no network is, and keeps nothing of it", async () => {
    const bytes = Buffer.from("# Notes about the model\nIt is elsewhere, überall und nirgends.\n");
    const path = `/models/${createHash("sha256").update(bytes).digest("hex")}?name=notes.onnx`;
    const head = { method: "HEAD", headers: { authorization: `Bearer ${hub.key}` } };
    const whole = { "upload-length": String(bytes.length) };
    expect((await upload(path, bytes.subarray(0, 20), whole)).status).toBe(202);
    for (const offset of [20, 0]) {
      const refused = await upload(path, bytes.subarray(offset), { ...whole, "upload-offset": String(offset) });
      expect([refused.status, (await refused.json()).errors[0].message]).toEqual([
        400,
        expect.stringContaining("got a text file, expected a network"),
      ]);
      expect((await fetch(hub.url + path, head)).status).toBe(404);
    }
  });

  it("refuses model files of a wrong hash or size, and strangers", async () => {
    const wrong = "1".repeat(64);
    const refused = await upload(`/models/${wrong}`, Buffer.from("not that"));
    expect([refused.status, (await refused.json()).errors[0].extensions.code]).toEqual([422, "wrong_hash"]);
    const large = await upload(`/models/${wrong}`, Buffer.from("x"), { "upload-length": String(2 ** 40) });
    expect(large.status).toBe(413);
    expect((await upload("/models/..%2fx", Buffer.from("x"))).status).toBe(404);
    expect((await upload(`/models/${wrong}`, Buffer.from("x"), { "upload-offset": "-1" })).status).toBe(400);
    expect((await fetch(`${hub.url}/models/${sha256}`, { method: "PUT", body: "x" })).status).toBe(401);
    const agent = await Agent.enrol(hub);
    const asked = await agent.ask(`/models/${sha256}`, { method: "PUT", json: {} });
    expect(asked.status).toBe(403);
  });
});
