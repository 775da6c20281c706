/** Releases of the agent: saved, given like applications, told by heartbeats, reported, and stopped. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { signRelease, verifyRelease, publicText, readDesiredAgent } from "boxwright-service/release";
import { readAudit } from "../../src/nouns/audit.ts";
import { Agent } from "../support/agent.ts";
import { onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const ARCHIVE = Buffer.from("an archive of the agent");
const SHA256 = createHash("sha256").update(ARCHIVE).digest("hex");
const signed = (version: string) =>
  signRelease(
    {
      ...{ version, platform: "linux-x64", sha256: SHA256, size: ARCHIVE.length, name: "agent.tgz" },
      signed_at: "2026-11-29T00:00:00.000Z",
    },
    PEM,
  );

onDatabases("releases of the agent", (kind) => {
  const site = useSignedInHub(kind);
  const mutate = async (field: string, variables: object = {}, declared = "") => {
    const body = JSON.stringify({ query: `mutation ${declared} { team { done: ${field} } }`, variables });
    const { json } = await site.hub.query("", site.hub.key, { body });
    if (json.errors !== undefined) throw new Error(JSON.stringify(json.errors));
    return json.data.team.done;
  };
  const save = (app: string, release: unknown) =>
    mutate(
      `saveAppVersion(appId: "${app}", release: $release) { status failedMessage version { number etag description release model { sha256 } } }`,
      { release },
      "($release: JSON)",
    );
  const device = async (id: string) => {
    const fields =
      "availableUpgrade { id version semver } agentUpdate { version state error { code message } } desiredApplication { number }";
    return (await site.hub.query(`query { team { device(deviceId: "${id}") { ${fields} } } }`)).json.data.team.device;
  };
  const send = () =>
    fetch(`${site.hub.url}/models/${SHA256}?name=agent.tgz`, {
      method: "PUT",
      body: new Uint8Array(ARCHIVE),
      headers: { authorization: `Bearer ${site.hub.key}` },
    });

  it("reach devices beside their network, signed as they were, and stop when devices go back", async () => {
    const { hub } = site;
    const [first, second] = [await Agent.enrol(hub), await Agent.enrol(hub)];
    await mutate('createApp(name: "Agent", identifier: "agent", purpose: AGENT) { status }');
    await mutate('createApp(name: "Doors", identifier: "doors") { status }');
    expect(await save("agent", signed("1.1.0"))).toMatchObject({
      failedMessage: expect.stringContaining("expected an archive that the team has sent"),
    });
    expect((await send()).status).toBe(201);
    const saved = await save("agent", signed("1.1.0"));
    expect(saved).toMatchObject({
      status: "SUCCESS",
      version: {
        number: 1,
        model: { sha256: SHA256 },
        description: expect.stringContaining("agent 1.1.0 for linux-x64"),
      },
    });
    expect((await save("doors", signed("1.1.0"))).failedMessage).toContain(
      "expected a network: its purpose is network",
    );
    expect((await save("agent", { release: "{}", signature: "x" })).failedMessage).toContain("got version");
    const config = `saveAppVersion(appId: "agent", config: {family: "yolov8", classes: 2, inputSize: [320, 320]}) { failedMessage }`;
    expect((await mutate(config)).failedMessage).toContain("expected a release");
    await mutate(
      'saveAppVersion(appId: "doors", config: {family: "yolov8", classes: 2, inputSize: [320, 320]}) { status }',
    );
    const group = (await mutate('createDeviceGroup(name: "Gates") { deviceGroup { id } }')).deviceGroup.id;
    for (const { id } of [first, second])
      await mutate(`deviceGroupAddDevice(deviceGroupId: "${group}", deviceId: "${id}") { status }`);
    await mutate(`assignApp(appId: "doors", version: 1, groupId: "${group}") { status }`);
    expect((await first.beat()).json).toMatchObject({ desired_agent: null });
    expect((await first.ask("/device/agent", { method: "GET" })).status).toBe(204);
    await mutate(`assignApp(appId: "agent", version: 1, groupId: "${group}", share: 99, failureLimit: 1) { status }`);

    const answer = (await first.beat()).json;
    expect(answer.desired_agent).toBe(saved.version.etag);
    expect(answer.desired_version).toMatch(/^doors:/);
    const given = readDesiredAgent((await first.ask("/device/agent", { method: "GET" })).json);
    expect(verifyRelease(given.signed, [publicText(privateKey)])).toMatchObject({ version: "1.1.0", sha256: SHA256 });
    const part = await fetch(`${hub.url}/device/models/${SHA256}`, {
      headers: { authorization: `Bearer ${first.credential}`, range: "bytes=3-" },
    });
    expect([part.status, await part.text()]).toEqual([206, ARCHIVE.subarray(3).toString()]);
    expect(await device(first.id)).toMatchObject({
      availableUpgrade: { id: given.etag, version: "1", semver: "1.1.0" },
      agentUpdate: null,
    });

    // A report about the version of the agent changes nothing about the version of the application.
    await first.ask("/device/report", { json: { version: answer.desired_version, state: "applied" } });
    await first.ask("/device/report", { json: { version: given.etag, state: "applied" } });
    await first.beat({ version: "1.1.0" });
    await hub.running.app.heartbeats.flush(hub.db);
    expect(await device(first.id)).toMatchObject({
      ...{ availableUpgrade: null, agentUpdate: { version: "1.1.0", state: "APPLIED" } },
      desiredApplication: { number: 1 },
    });
    const page = (await site.admin.get(`${site.base}/devices/${first.id}`)).html;
    expect(page).toMatch(/Agent<\/h2>[^]*agent 1\.1\.0/);
    const error = { code: "no_heartbeat", message: "the hub acknowledged no heartbeats" };
    await second.ask("/device/report", { json: { version: given.etag, state: "failed", error } });
    expect((await device(second.id)).agentUpdate).toMatchObject({ state: "FAILED", error });
    expect((await second.beat()).json).toMatchObject({ desired_agent: null, desired_version: answer.desired_version });
    expect((await first.beat()).json.desired_agent).toBe(given.etag);
    const rows = await readAudit(hub.storage.db, 3, hub.team.id);
    expect(rows[0]!.action).toBe("rollout.stopped");
    expect(await mutate(`endAppRollout(groupId: "${group}", purpose: AGENT) { status }`)).toEqual({
      status: "SUCCESS",
    });
    expect((await first.beat()).json).toMatchObject({ desired_agent: null, desired_version: answer.desired_version });
  });

  it("are saved and given on the pages", async () => {
    await send();
    const { admin, base } = site;
    const list = `${base}/apps`;
    const made = await admin.post(list, { ...(await admin.formOf(list, list)), name: "Our agent", purpose: "agent" });
    const edit = made.headers.get("location")!.replace(/\?.*/, "");
    const wrong = await admin.post(edit, { ...(await admin.formOf(edit, edit)), release: "{}" });
    expect(wrong.html).toContain("Paste what");
    const form = { ...(await admin.formOf(edit, edit)), release: JSON.stringify(signed("2.0.0")) };
    const saved = await admin.post(edit, form);
    const [place, said] = await site.follow(saved);
    expect([place, said]).toEqual([expect.stringMatching(/\/versions\/1$/), "Saved as version 1."]);
    expect((await admin.get(place)).html).toContain("agent 2.0.0 for linux-x64");
    expect((await admin.get(list)).html).toContain("agent, version 1");
  });
});
