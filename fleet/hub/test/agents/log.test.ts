/** Logs of devices: who asks, what the hub keeps, and that no secret stays. */
import { expect, it } from "vitest";
import { readAudit } from "../../src/nouns/audit.ts";
import { deleteOldLogs } from "../../src/nouns/device-log.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { Agent } from "../support/agent.ts";
import { onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("logs of devices", (kind) => {
  const site = useSignedInHub(kind);
  const ask = async (id: string, key?: string) => {
    const field = `requestDeviceLog(deviceId: "${id}") { status failedMessage }`;
    return (await site.hub.query(`mutation { team { done: ${field} } }`, key)).json.data.team.done;
  };
  const logs = async (id: string, key?: string) => {
    const { json } = await site.hub.query(`{ team { deviceLogs(deviceId: "${id}") { reason text receivedAt } } }`, key);
    return json.data.team.deviceLogs;
  };
  const post = (agent: Agent, json: unknown) => agent.ask("/device/log", { json });

  it("are asked for by page or GraphQL, come once, and are in the audit", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    expect((await agent.beat()).json.log_requested).toBe(false);
    expect(await ask(agent.id)).toMatchObject({ status: "SUCCESS" });
    expect((await agent.beat()).json.log_requested).toBe(true);
    const line = '{"level":"warn","time":"2026-01-02T03:04:05.678Z","camera":"door","msg":"no frame"}';
    const text = `<b>first</b>\nsent Bearer ${agent.credential}\nrtsp://admin:hidden-1@cam/x\u0000\n${line}\nnull`;
    expect((await post(agent, { reason: "requested", text })).status).toBe(204);
    expect((await agent.beat()).json.log_requested).toBe(false);
    const [log, ...more] = await logs(agent.id);
    expect([log.reason, more]).toEqual(["REQUESTED", []]);
    expect(log.text).toMatch(/^<b>first<\/b>\nsent Bearer \[redacted\]\nrtsp:\/\/\[redacted\]@cam\/x/);
    expect(JSON.stringify(await hub.storage.db.all("SELECT body FROM device_logs"))).not.toMatch(/bwd_\w{6}|hidden-1/);
    const page = `${site.base}/devices/${agent.id}`;
    const form = await site.admin.formOf(page, `${page}/log`);
    expect((await site.follow(await site.admin.post(`${page}/log`, form)))[1]).toContain("after its next heartbeat");
    const { html } = await site.admin.get(page);
    expect(html).toMatch(/<pre class="machine"[^>]*>&lt;b&gt;first/);
    expect(html).toContain("2026-01-02 03:04:05 warn: no frame {&quot;camera&quot;:&quot;door&quot;}");
    expect(html).toContain("Asked. It comes after the next contact.");
    const rows = await readAudit(hub.storage.db, 20, hub.team.id);
    expect(rows.filter(({ action }) => action === "device.log_requested").map(({ subject }) => subject)).toEqual([
      ...[`${agent.id} ${agent.name}`, `${agent.id} ${agent.name}`],
    ]);
  });

  it("are few, short and not for ever", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    const wide = Array.from({ length: 600 }, (_, i) => `line ${i}`).join("\n");
    for (let i = 0; i < 5; i++) {
      expect((await post(agent, { reason: "failed", text: `${wide}\nlog ${i}` })).status).toBe(204);
      const soon = await post(agent, { reason: "failed", text: "again" });
      expect([soon.status, soon.headers.get("retry-after")]).toEqual([429, "10"]);
      hub.clock.offset += 10_000;
    }
    const kept = (await logs(agent.id)) as { text: string }[];
    expect(kept.map(({ text }) => text.split("\n").at(-1))).toEqual(["log 4", "log 3", "log 2"]);
    expect(kept[0]!.text.split("\n")).toHaveLength(500);
    expect((await post(agent, { reason: "failed", text: "x".repeat(70_000) })).status).toBe(400);
    expect((await post(agent, { reason: "curious", text: "x" })).status).toBe(400);
    const later = Date.now() + hub.clock.offset + 7 * 86_400_000;
    await deleteOldLogs(hub.storage.db, later - 60_000, 100);
    expect(await logs(agent.id)).toHaveLength(3);
    await deleteOldLogs(hub.storage.db, later + 60_000, 100);
    expect(await logs(agent.id)).toEqual([]);
    hub.clock.offset = 0;
  });

  it("belong to one team, and to enrolled devices", async () => {
    const { hub } = site;
    const agent = await Agent.enrol(hub);
    await post(agent, { reason: "failed", text: "ours" });
    const other = await hub.makeTeam("Other", []);
    expect(await logs(agent.id, other.key)).toEqual([]);
    expect((await ask(agent.id, other.key)).failedMessage).toContain("expected one of the team");
    const [typed] = await addDevices(hub.storage.db, Date.now(), hub.team.id, 1000, [{ name: "typed" }]);
    expect((await ask(typed!.id)).failedMessage).toContain("enrolled and not revoked");
  });
});
