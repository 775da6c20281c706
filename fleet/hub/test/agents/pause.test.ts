/** Pauses: what the device is told, who may pause it, and what survives. */
import { expect, it } from "vitest";
import { readAudit } from "../../src/nouns/audit.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { Agent, adoptKey, enrol } from "../support/agent.ts";
import { onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("pauses", (kind) => {
  const site = useSignedInHub(kind);
  const change = async (field: string, key?: string) => {
    const fields = "status failedMessage device { pausedAt isPaused }";
    const { json } = await site.hub.query(`mutation { team { done: ${field} { ${fields} } } }`, key);
    return json.data.team.done;
  };

  it("reach the device with its next heartbeat, once in the audit, and are shown", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    expect((await agent.beat()).json.paused).toBe(false);
    const paused = await change(`pauseDevice(deviceId: "${agent.id}")`);
    expect(paused).toMatchObject({ status: "SUCCESS", device: { isPaused: null } });
    expect(await change(`pauseDevice(deviceId: "${agent.id}")`)).toMatchObject({
      device: { pausedAt: paused.device.pausedAt },
    });
    const page = `${site.base}/devices/${agent.id}`;
    expect((await site.admin.get(page)).html).toContain("It has not said yet that it takes no frames.");
    expect((await agent.beat()).json.paused).toBe(true);
    await agent.beat({ paused: true });
    await hub.running.app.heartbeats.flush(hub.db);
    expect((await site.admin.get(page)).html).toContain(": it takes no frames.");
    const { json } = await hub.query("query { team { devices(filter: { only: PAUSED }) { nodes { id isPaused } } } }");
    expect(json.data.team.devices.nodes).toEqual([{ id: agent.id, isPaused: true }]);
    const form = await site.admin.formOf(page, `${page}/resume`);
    expect((await site.follow(await site.admin.post(`${page}/resume`, form)))[1]).toContain("takes frames again");
    expect((await agent.beat()).json.paused).toBe(false);
    const rows = await readAudit(hub.storage.db, 20, hub.team.id);
    expect(rows.map(({ action }) => action).filter((action) => /paused|resumed/.test(action))).toEqual([
      ...["device.resumed", "device.paused"],
    ]);
  });

  it("and a missing application are named to a person who asks for a snap, which waits for a frame", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    const page = `${site.base}/devices/${agent.id}`;
    const ask = async () => {
      const form = await site.admin.formOf(page, `${site.base}/snaps/ask`);
      const [, said] = await site.follow(await site.admin.post(`${site.base}/snaps/ask`, form));
      const [, shown] = /Asked\. It (comes .*?)<\/span>/.exec((await site.admin.get(page)).html)!;
      expect(said).toBe(`Asked. The snap ${shown}`);
      return shown;
    };
    expect(await ask()).toMatch(/^comes with the first frame after the next contact\. The device has no application: /);
    await agent.beat({ application: { identifier: "own", version: "own:1", state: "applied" } });
    expect(await ask()).toBe("comes with the first frame after the next contact.");
    await change(`pauseDevice(deviceId: "${agent.id}")`);
    expect(await ask()).toMatch(/^comes only if the device is resumed within ten minutes: it is paused/);
  });

  it("stay when the device enrols again, and are refused for others' devices and unenrolled ones", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    await change(`pauseDevice(deviceId: "${agent.id}")`);
    const again = await enrol(hub, await adoptKey(hub, { deviceId: agent.id, devices: 1 }));
    expect((await new Agent(hub, again.json).beat()).json.paused).toBe(true);
    const other = await hub.makeTeam("Other", []);
    expect(await change(`resumeDevice(deviceId: "${agent.id}")`, other.key)).toMatchObject({
      ...{ status: "FAILED", failedMessage: expect.stringContaining("expected one of the team") },
    });
    const [typed] = await addDevices(hub.storage.db, Date.now(), hub.team.id, 1000, [{ name: "typed" }]);
    expect(await change(`pauseDevice(deviceId: "${typed!.id}")`)).toMatchObject({
      ...{ status: "FAILED", failedMessage: expect.stringContaining("never enrolled") },
    });
  });
});
