/** The client's methods for alerts, pauses, tags and API keys, and that none of the schema is missing. */
import { readFileSync } from "node:fs";
import { buildSchema, type GraphQLObjectType } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHubClient, HubAuthError, HubMutationError, type Alert, type HubClient } from "../../client/index.ts";
import { Agent } from "../support/agent.ts";
import { startHub, type TestHub } from "../support/hub.ts";

/** Fields of `team` without a method: the client has lists of the last two. */
const LEFT_OUT = ["id", "name", "deviceGroup", "adoptKey"];

describe("the client's methods", () => {
  let hub: TestHub;
  let client: HubClient;
  beforeAll(async () => {
    hub = await startHub({ env: { HUB_WEBHOOK_ADDRESSES: "any" } });
    client = createHubClient({ baseUrl: hub.url, apiKey: hub.key });
  });
  afterAll(() => hub.stop());

  it("are those of the schema", () => {
    const schema = buildSchema(readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8"));
    const fields = ["Team", "TeamMutation"].flatMap((type) =>
      Object.keys((schema.getType(type) as GraphQLObjectType).getFields()),
    );
    const methods = Object.keys(client);
    expect(fields.filter((field) => !methods.includes(field))).toEqual(LEFT_OUT);
    expect(methods.filter((method) => !fields.includes(method)).sort()).toEqual([
      "appVersions",
      "deviceDetails",
      "query",
    ]);
  });

  it("pause, resume and tag devices", async () => {
    const agent = await Agent.enrol(hub);
    await agent.beat();
    expect(await client.pauseDevice(agent.id)).toMatchObject({ id: agent.id });
    expect((await agent.beat()).json.paused).toBe(true);
    expect((await client.device(agent.id))?.pausedAt).toMatch(/Z$/);
    expect((await client.devices({ only: "PAUSED" })).map(({ id }) => id)).toEqual([agent.id]);
    await client.resumeDevice(agent.id);
    expect((await client.device(agent.id))?.pausedAt).toBeNull();
    await client.requestDeviceLog(agent.id);
    expect((await agent.beat()).json.log_requested).toBe(true);
    expect(await client.deviceLogs(agent.id)).toEqual([]);
    await client.setDeviceTags(agent.id, ["north", "gate"]);
    expect(await client.deviceTags()).toEqual(["gate", "north"]);
    expect((await client.device(agent.id))?.tags).toEqual(["gate", "north"]);
    expect((await client.devices({ tag: "north" })).map(({ id }) => id)).toEqual([agent.id]);
    await client.setDeviceTags(agent.id, []);
    expect(await client.deviceTags()).toEqual([]);
    await expect(client.pauseDevice("nothing")).rejects.toThrow(HubMutationError);
    expect(await client.returningDevicesUntil()).toBeNull();
    expect(await client.letDevicesReturn()).toBe(await client.returningDevicesUntil());
    expect(Date.parse((await client.returningDevicesUntil())!)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect([await client.letDevicesReturn(0), await client.awayDeviceCount()]).toEqual([null, 0]);
  });

  it("make, change and delete rules and channels, and silence them", async () => {
    const { alertChannel, secret } = await client.createAlertChannel("night", { webhookUrl: "http://127.0.0.1:9/h?k" });
    expect([alertChannel.address, secret]).toEqual(["http://127.0.0.1:9", expect.stringMatching(/^whsec_/)]);
    expect((await client.updateAlertChannel(alertChannel.id, "day")).name).toBe("day");
    const rule = await client.createAlertRule({ kind: "VERSION_FAILED", alertChannelId: alertChannel.id });
    await expect(client.deleteAlertChannel(alertChannel.id)).rejects.toThrow("a channel of 1 rule,");
    expect(await client.updateAlertRule(rule.id, { deviceTag: "north" })).toMatchObject({
      ...{ name: rule.name, deviceTag: "north", alertChannelId: alertChannel.id },
    });
    const changed = await client.updateAlertRule(rule.id, { deviceTag: null, alertChannelId: null });
    expect(changed).toEqual({ ...rule, alertChannelId: null });
    expect(await client.alertRules()).toEqual([changed]);
    const until = await client.silenceAlerts({ alertRuleId: rule.id }, 60);
    expect(await client.alertSilences()).toEqual([{ kind: "RULE", targetId: rule.id, until }]);
    expect(await client.silenceAlerts({ alertRuleId: rule.id }, 0)).toBeNull();
    await client.setDeviceTags((await client.devices())[0]!.id, ["roof"]);
    const roof = await client.silenceAlerts({ deviceTag: "roof" }, 1);
    expect(await client.alertSilences()).toEqual([{ kind: "TAG", targetId: "roof", until: roof }]);
    await client.silenceAlerts({ deviceTag: "roof" }, 0);
    await client.testAlertChannel(alertChannel.id);
    expect(await client.alertChannels()).toMatchObject([{ name: "day", waiting: 1, dropped: 0 }]);
    expect(await client.resendAlerts(alertChannel.id)).toBe(0);
    await client.deleteAlertRule(rule.id);
    await client.deleteAlertChannel(alertChannel.id);
    expect([await client.alertRules(), await client.alertChannels()]).toEqual([[], []]);
  });

  it("read alerts in pages, those of one device alone too", async () => {
    const values = Array.from(
      { length: 203 },
      (_, i) => `('a${i}', ?, 'r', 'Offline', 'device_offline', 'd${i}', 'Gate', ${i}, 1)`,
    );
    await hub.storage.db.write((tx) =>
      tx.all(
        `INSERT INTO alerts (id, team_id, rule_id, rule_name, kind, subject, subject_name, began_at, hold_ms) VALUES ${values.join(", ")}`,
        values.map(() => hub.team.id),
      ),
    );
    const listed = async (filter: Parameters<HubClient["alerts"]>[0]): Promise<Alert[]> => {
      const rows: Alert[] = [];
      for await (const row of client.alerts(filter)) rows.push(row);
      return rows;
    };
    expect((await listed({ open: true })).map(({ subjectId }) => subjectId)).toEqual(
      values.map((_, i) => `d${202 - i}`),
    );
    expect(await listed({ subjectId: "d7" })).toMatchObject([{ kind: "DEVICE_OFFLINE", endedAt: null }]);
    expect(await listed({ open: false })).toEqual([]);
  });

  it("make, rotate and revoke API keys", async () => {
    const made = await client.createApiKey({ name: "shop", scopes: ["READ"], expiresInDays: 30 });
    const shop = createHubClient({ baseUrl: hub.url, apiKey: made.key });
    await shop.devices();
    const next = await client.rotateApiKey(made.apiKey.id, 0);
    await expect(shop.devices()).rejects.toThrow(HubAuthError);
    expect(next.apiKey).toMatchObject({ name: "shop", scopes: ["READ"], status: "ACTIVE" });
    const ids = (await client.apiKeys()).map(({ id, status, replacedById }) => [id, status, replacedById]);
    expect(ids).toContainEqual([made.apiKey.id, "EXPIRED", next.apiKey.id]);
    expect((await client.revokeApiKey(next.apiKey.id)).status).toBe("REVOKED");
    await expect(client.createApiKey({ name: "x", scopes: [] })).rejects.toThrow(HubMutationError);
  });
});
