/** Model files and snaps in a bucket: what a hub with a folder does, and what only a store can refuse. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "boxwright-service/testing/child";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFiles } from "../../src/files/store.ts";
import { explainRefusal } from "../../src/files/s3-refusals.ts";
import { deleteOrphans } from "../../src/nouns/snap-deletion.ts";
import { Agent } from "../support/agent.ts";
import { BUCKET, PREFIX, startBucket, type Bucket } from "../support/bucket.ts";
import { startHub, temporaryFolder, type TestHub } from "../support/hub.ts";
import { png, sha256Of } from "../support/pictures.ts";
import { cli, merged, run } from "../support/process.ts";
import { readAuthorization, signatureOf } from "../support/signature.ts";
import { sendSnap } from "../support/snaps.ts";

const model = readFileSync(fileURLToPath(new URL("../../../../test/fixtures/models/yolox_nano.onnx", import.meta.url)));
const sha256 = createHash("sha256").update(model).digest("hex");
const MIDDLE = 100_000;
const DAY_MS = 86_400_000;

describe("a hub whose files are in a bucket", () => {
  let bucket: Bucket;
  let hub: TestHub;
  beforeAll(async () => {
    bucket = await startBucket();
    hub = await startHub({ env: bucket.env });
  });
  afterAll(async () => {
    await hub.stop();
    await bucket.close();
  });

  const objects = (kind: string): string[] => {
    const start = `${PREFIX}${hub.team.id}/${kind}/`;
    const names = [...bucket.objects.keys()].filter((name) => name.startsWith(start));
    return names.map((name) => name.slice(start.length)).sort();
  };
  /** Files on the disk of the hub. */
  const onDisk = (): string[] =>
    (readdirSync(hub.storage.filesFolder, { recursive: true }) as string[]).filter((name) =>
      statSync(join(hub.storage.filesFolder, name)).isFile(),
    );
  const upload = (bytes: Buffer, headers: Record<string, string> = {}, of = sha256) =>
    fetch(`${hub.url}/models/${of}`, {
      method: "PUT",
      body: new Uint8Array(bytes),
      headers: { authorization: `Bearer ${hub.key}`, ...headers },
    });
  const length = { "upload-length": String(model.length) };
  const get = async (agent: Agent, headers: Record<string, string> = {}, method = "GET") => {
    const answer = await fetch(`${hub.url}/device/models/${sha256}`, {
      method,
      headers: { authorization: `Bearer ${agent.credential}`, ...headers },
    });
    return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  it("shows a model file when it is whole and has its hash, and not before", async () => {
    expect((await upload(model.subarray(0, MIDDLE), length)).status).toBe(202);
    const wrong = "1".repeat(64);
    expect((await upload(Buffer.from("other bytes"), {}, wrong)).status).toBe(422);
    expect(objects("models")).toEqual([]);
    // A store that fails: the bytes stay, and the sender goes on from their end.
    bucket.refuse = (method) => (method === "PUT" ? 503 : undefined);
    const rest = { ...length, "upload-offset": String(MIDDLE) };
    expect((await upload(model.subarray(MIDDLE), rest)).status).toBe(503);
    bucket.refuse = () => undefined;
    const head = await fetch(`${hub.url}/models/${sha256}`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${hub.key}` },
    });
    const told = [head.headers.get("upload-offset"), head.headers.get("upload-complete")];
    expect(told).toEqual([String(model.length), "?0"]);
    const end = await upload(Buffer.alloc(0), { ...length, "upload-offset": String(model.length) });
    expect(end.status).toBe(201);
    expect(objects("models")).toEqual([sha256]);
    expect(bucket.objects.get(`${PREFIX}${hub.team.id}/models/${sha256}`)?.bytes.equals(model)).toBe(true);
    expect(onDisk()).toEqual([]);
    expect((await upload(model)).status).toBe(201);
  });

  it("checks versions with it, and sends it to devices in parts, without a word of the bucket", async () => {
    const agent = await Agent.enrol(hub);
    const mutate = async (text: string, variables: object): Promise<any> => {
      const { json } = await hub.query("", hub.key, { body: JSON.stringify({ query: `mutation ${text}`, variables }) });
      return Object.values(json.data.team)[0];
    };
    const made = await mutate('{ team { createApp(name: "Bucket") { app { id } } } }', {});
    const app = made.app.id as string;
    const SAVE =
      "($app: ID!, $options: JSON, $model: String) { team { saveAppVersion(appId: $app, options: $options, modelSha256: $model) { status failedMessage version { description } } } }";
    const saved = await mutate(SAVE, { app, model: sha256, options: { family: "yolox", labels: "coco80" } });
    expect(saved).toMatchObject({ status: "SUCCESS" });
    expect(saved.version.description).toMatch(/yolox/);
    expect(onDisk()).toEqual([]);

    const whole = await get(agent);
    expect([whole.status, whole.bytes.equals(model), whole.headers.get("etag")]).toEqual([200, true, `"${sha256}"`]);
    const part = await get(agent, { range: `bytes=${MIDDLE}-` });
    expect([part.status, part.bytes.equals(model.subarray(MIDDLE))]).toEqual([206, true]);
    expect((await get(agent, { range: "bytes=-10" })).bytes).toEqual(model.subarray(-10));
    expect((await get(agent, { range: `bytes=${model.length}-` })).status).toBe(416);
    expect((await get(agent, {}, "HEAD")).headers.get("content-length")).toBe(String(model.length));
    const headers = JSON.stringify([...whole.headers, ...part.headers]);
    expect(headers).not.toMatch(new RegExp(`KEYOFTHETEST|amz|${BUCKET}|${new URL(bucket.endpoint).port}`, "i"));

    bucket.refuse = () => 503;
    const away = await get(agent);
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(away.bytes.toString()).not.toContain(BUCKET);
    bucket.refuse = () => undefined;
    expect(hub.logs()).toContain(`answered 503`);
    expect(hub.logs()).not.toContain(bucket.env["HUB_S3_SECRET_ACCESS_KEY"]);
    expect((await get(agent)).status).toBe(200);
  });

  it("keeps pictures of snaps, and deletes what no row names", async () => {
    const agent = await Agent.enrol(hub);
    const [kept, gone] = [png(64, 64, [1, 2, 3]), png(64, 64, [3, 2, 1])];
    await sendSnap(agent, [kept]);
    const id = await sendSnap(agent, [gone]);
    expect(objects("snaps").sort()).toEqual([sha256Of(kept), sha256Of(gone)].sort());
    const query = `mutation { team { deleteSnapsByIds(snapIds: ["${id}"]) { deletedCount } } }`;
    expect((await hub.query(query)).json.data.team.deleteSnapsByIds.deletedCount).toBe(1);
    expect(objects("snaps")).toEqual([sha256Of(kept)]);

    const files = openFiles(hub.config);
    const orphan = png(64, 64, [9, 9, 9]);
    const place = { team: hub.team.id, kind: "snaps", sha256: sha256Of(orphan) } as const;
    const sent = { offset: 0, size: orphan.length };
    const body = async function* () {
      yield orphan;
    };
    expect(await files.receive(place, body(), sent)).toEqual({ kind: "complete" });
    const { db } = hub.storage;
    await deleteOrphans(db, files, Date.now());
    expect(objects("snaps")).toHaveLength(2);
    await deleteOrphans(db, files, Date.now() + DAY_MS);
    expect(objects("snaps")).toEqual([sha256Of(kept)]);
    expect(objects("models")).toEqual([sha256]);
  });

  it("finds more files than one answer of the store lists", async () => {
    const files = openFiles(hub.config);
    const names: string[] = [];
    for (let i = 0; i < 3; i++) await sendSnap(await Agent.enrol(hub), [png(64, 64, [20 + i, 0, 0])]);
    bucket.mostListed = 2;
    for await (const { place } of files.list()) names.push(place.sha256);
    expect(names.sort()).toEqual([...objects("models"), ...objects("snaps")].sort());
    expect(names).toHaveLength(5);
  });
});

describe("a bucket that cannot be used is told at start, in one line", () => {
  let bucket: Bucket;
  const folder = temporaryFolder();
  beforeAll(async () => void (bucket = await startBucket()));
  afterAll(async () => {
    await bucket.close();
    folder.remove();
  });
  const check = (env: Record<string, string>, command = ["serve", "--create", "--check"]) => {
    const files = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_FILES: join(folder.path, "files") };
    return run(command, { ...files, HUB_PORT: "0", ...bucket.env, ...env });
  };

  it("and a good one is tried and left as it was", async () => {
    const { code, json } = await check({});
    expect([code, json]).toEqual([0, { database: "sqlite", files: `${bucket.endpoint}/${BUCKET}` }]);
    expect([bucket.objects.size, bucket.asked]).toEqual([0, ["PUT", "GET", "GET", "DELETE"]]);
  });

  it.each([
    [{ HUB_S3_BUCKET: "nobody" }, /HUB_S3_BUCKET: got "nobody", which http.* does not have; make the bucket/],
    [{ HUB_S3_ACCESS_KEY_ID: "stranger" }, /HUB_S3_ACCESS_KEY_ID: got "stranger", which .* does not know/],
    [{ HUB_S3_SECRET_ACCESS_KEY: "hush-hush" }, /HUB_S3_SECRET_ACCESS_KEY: got another secret than .* "KEYOFTHETEST"/],
    [{ HUB_S3_REGION: "elsewhere-1" }, /HUB_S3_REGION: got "elsewhere-1", expected "test-1"/],
  ])("%o", async (env, message) => {
    for (const command of [
      ["serve", "--create", "--check"],
      ["serve", "--create"],
    ]) {
      const { code, stderr } = await check(env, command);
      expect([code, stderr.trim().split("\n").length]).toEqual([1, 1]);
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain("hush-hush");
    }
  });

  it("is waited for if it does not answer, and --check says so at once", async () => {
    const away = { HUB_S3_ENDPOINT: "http://127.0.0.1:1" };
    const message = /HUB_S3_ENDPOINT: got http:\/\/127.0.0.1:1, which does not answer/;
    const { code, stderr } = await check(away);
    expect([code, stderr.trim().split("\n").length]).toEqual([1, 1]);
    expect(stderr).toMatch(message);
    const files = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_FILES: join(folder.path, "files") };
    const env = merged({ ...files, HUB_PORT: "0", ...bucket.env, ...away });
    const waiting = new Child([process.execPath, cli, "serve", "--create"], { env });
    const [line] = await waiting.says(/^.*cannot start yet, trying again.*$/m);
    expect(line).toMatch(message);
    await waiting.end("SIGTERM");
  });

  it("and settings that do not fit together before the first request", async () => {
    for (const [env, message] of [
      [{ HUB_S3_BUCKET: "" }, /HUB_S3_\*: got no HUB_S3_BUCKET, expected all of a bucket or none/],
      [{ HUB_MODEL_BYTES: String(2 ** 33) }, /modelBytes: got 8589934592, expected at most 5368709120/],
      [{ HUB_S3_PREFIX: "/x" }, /HUB_S3_PREFIX: got "\/x", expected letters/],
      [{ HUB_S3_BUCKET: "A/../b" }, /HUB_S3_BUCKET: got "A\/..\/b", expected the name of a bucket/],
    ] as const) {
      const { code, stderr } = await check(env);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
    const { json } = await check({ HUB_S3_SECRET_ACCESS_KEY: "hush-hush" }, ["config"]);
    expect([json.s3SecretAccessKey, json.s3Bucket]).toEqual(["***", BUCKET]);
  });

  it("with the right that is missing, and the difference of clocks", async () => {
    bucket.refuse = (method) => (method === "DELETE" ? 403 : undefined);
    expect((await check({})).stderr).toMatch(
      /"KEYOFTHETEST", which may not delete in the bucket hub-test; allow it s3:/,
    );
    bucket.refuse = () => undefined;
    bucket.ahead = 30 * 60_000;
    expect((await check({})).stderr).toMatch(/clock of this machine is 30 minutes behind that of http.*NTP/);
    bucket.ahead = 0;
  });

  it("and other refusals in the store's own words", () => {
    const place = { endpoint: "https://s3.example.org", bucket: "b", region: "us-east-1", accessKeyId: "AK" };
    const told = (status: number, body: string) => explainRefusal(place, "write", { status, body, date: undefined });
    expect(told(418, "<Message>short and stout</Message>").message).toMatch(/answered 418 .*: short and stout$/);
    expect(told(301, "<Code>PermanentRedirect</Code><Endpoint>b.example.org</Endpoint>").message).toMatch(
      /HUB_S3_ENDPOINT: got https:\/\/s3.example.org, and the bucket b is at b.example.org/,
    );
  });

  it("by a test store whose signatures are those of the specification", () => {
    // The example "GET Object" of the specification.
    const claim = readAuthorization(
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    )!;
    const headers = {
      ...{ host: "examplebucket.s3.amazonaws.com", range: "bytes=0-9", "x-amz-date": "20130524T000000Z" },
      "x-amz-content-sha256": createHash("sha256").digest("hex"),
    };
    const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    expect(signatureOf({ method: "GET", target: "/test.txt", headers }, claim, secret)).toBe(claim.signature);
  });
});
