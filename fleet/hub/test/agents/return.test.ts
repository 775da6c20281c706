/** Devices of a restored hub: all come back by one action, each by its own key, and nobody else does. */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signReturn } from "boxwright-service/device-return";
import { publicText } from "boxwright-service/release";
import { backup } from "../../src/backup/dump.ts";
import { restore } from "../../src/backup/restore.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { Agent, send } from "../support/agent.ts";
import { onDatabases, temporaryFolder } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

interface Device {
  readonly agent: Agent;
  readonly pem: string;
}

onDatabases("devices of a restored hub", (kind) => {
  const site = useSignedInHub(kind);
  const enrol = async (): Promise<Device> => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const agent = await Agent.enrol(site.hub, undefined, { public_key: publicText(privateKey) });
    await agent.beat();
    return { agent, pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  };
  /** Comes back as an agent does. Returns the status of the last answer, and the credential if there is one. */
  const comeBack = async ({ agent, pem }: Device, signer = pem) => {
    const asked = await send(site.hub, "/device/return", { json: { device_id: agent.id } });
    if (asked.status !== 200) return { status: asked.status, credential: undefined };
    const signature = signReturn(signer, agent.id, asked.json.challenge as string);
    const { status, json } = await send(site.hub, "/device/return", { json: { device_id: agent.id, signature } });
    return { status, credential: json.credential as string | undefined };
  };
  const mutate = async (field: string) =>
    (await site.hub.query(`mutation { team { done: ${field} { status failedMessage } } }`)).json.data.team.done;
  const away = async () =>
    (await site.hub.query("query { team { awayDeviceCount returningDevicesUntil } }")).json.data.team;

  it("come back with id, pause and key; revoked, removed and strange ones do not", async () => {
    const { hub } = site;
    const folder = temporaryFolder();
    const file = join(folder.path, "b.gz");
    const [plain, paused, revoked, removed, forgotten] = [
      ...[await enrol(), await enrol(), await enrol(), await enrol()],
      { agent: await Agent.enrol(hub), pem: "" },
    ] as [Device, Device, Device, Device, Device];
    await mutate(`pauseDevice(deviceId: "${paused.agent.id}")`);
    await hub.running.app.heartbeats.flush(hub.db);
    await backup(hub.storage.db, Date.now(), file);
    await mutate(`revokeDeviceCredential(deviceId: "${revoked.agent.id}")`);
    await mutate(`deleteDevice(deviceId: "${removed.agent.id}")`);
    expect(await comeBack(plain)).toMatchObject({ status: 403 });
    await restore(hub.storage.db, Date.now(), file, true);

    expect((await plain.agent.beat()).status).toBe(401);
    // Nobody has opened the door yet.
    expect((await comeBack(plain)).status).toBe(403);
    expect(await away()).toEqual({ awayDeviceCount: 2, returningDevicesUntil: null });
    // The restore ended the session of the administrator.
    await site.admin.signIn(hub.admin.email);
    const list = `${site.base}/devices`;
    expect((await site.admin.get(list)).html).toContain("<strong>2 devices</strong> had enrolled");
    const form = await site.admin.formOf(list, `${list}/return`);
    const opened = await site.admin.post(`${list}/return`, { ...form, do: "open" });
    expect((await site.follow(opened))[1]).toContain("asks every five minutes");

    // A key of somebody else opens nothing, and neither does a signature that was heard.
    expect((await comeBack(plain, paused.pem)).status).toBe(403);
    const asked = await send(hub, "/device/return", { json: { device_id: plain.agent.id } });
    const heard = signReturn(plain.pem, plain.agent.id, asked.json.challenge as string);
    for (const { agent, pem } of [plain, paused]) {
      const { status, credential } = await comeBack({ agent, pem });
      expect(status).toBe(200);
      agent.credential = credential!;
    }
    const again = { device_id: plain.agent.id, signature: heard };
    expect((await send(hub, "/device/return", { json: again })).status).toBe(403);
    expect((await plain.agent.beat()).json.paused).toBe(false);
    expect((await paused.agent.beat()).json.paused).toBe(true);
    // A device that is back keeps its credential, whoever asks with its key.
    expect((await comeBack(plain)).status).toBe(403);
    expect((await plain.agent.beat()).status).toBe(200);
    for (const device of [revoked, removed, forgotten]) expect((await comeBack(device)).status).toBe(403);
    expect((await send(hub, "/device/return", { json: { device_id: "nobody" } })).status).toBe(403);
    expect((await away()).awayDeviceCount).toBe(0);
    await hub.running.app.heartbeats.flush(hub.db);
    const { json } = await hub.query(
      `query { team { device(deviceId: "${plain.agent.id}") { status conflictAt version } } }`,
    );
    expect(json.data.team.device).toEqual({ status: "ONLINE", conflictAt: null, version: "1.0.0" });
    expect(await mutate("letDevicesReturn(hours: 0)")).toMatchObject({ status: "SUCCESS" });
    expect((await away()).returningDevicesUntil).toBeNull();
    expect((await mutate("letDevicesReturn(hours: 721)")).failedMessage).toContain("expected a whole number from 0");
    const actions = (await readAudit(hub.storage.db, 10, hub.team.id)).map(({ action }) => action);
    expect(actions.filter((action) => /return/.test(action))).toEqual([
      ...["returns.closed", "device.returned", "device.returned", "returns.opened"],
    ]);
    folder.remove();
  });
});
