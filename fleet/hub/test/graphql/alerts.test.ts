/** Alerts by GraphQL. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { readAudit } from "../../src/nouns/audit.ts";
import { createGroup, deleteGroup } from "../../src/nouns/group.ts";
import { Agent } from "../support/agent.ts";
import { onDatabases, startHub, type TestHub } from "../support/hub.ts";

onDatabases("alerts by GraphQL", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind, env: { HUB_WEBHOOK_ADDRESSES: "any" } })));
  afterAll(() => hub.stop());

  const team = async (fields: string, key?: string) => {
    const { json } = await hub.query(`query { team { ${fields} } }`, key);
    return json.data.team;
  };
  const change = async (field: string, key?: string) => {
    const { json } = await hub.query(`mutation { team { done: ${field} } }`, key);
    expect(json.errors).toBeUndefined();
    return json.data.team.done;
  };
  const FAILURE = "status failedMessage";

  it("make, list and delete rules and channels, and note it in the audit", async () => {
    const channel = await change(
      `createAlertChannel(name: "night", webhookUrl: "http://127.0.0.1:9/hook?key=hidden") { ${FAILURE} secret alertChannel { id name kind address } }`,
    );
    expect(channel).toMatchObject({
      ...{ status: "SUCCESS", secret: expect.stringMatching(/^whsec_[A-Za-z\d+/]{43}=$/) },
      alertChannel: { name: "night", kind: "WEBHOOK", address: "http://127.0.0.1:9" },
    });
    const { id } = channel.alertChannel;
    const rule = await change(
      `createAlertRule(kind: DEVICE_OFFLINE, threshold: 5, alertChannelId: "${id}") { ${FAILURE} alertRule { id name kind threshold deviceGroupId alertChannelId } }`,
    );
    expect(rule.alertRule).toMatchObject({
      ...{ name: "Device offline for 5 minutes", kind: "DEVICE_OFFLINE", threshold: 5 },
      ...{ deviceGroupId: null, alertChannelId: id },
    });
    expect(await change(`testAlertChannel(alertChannelId: "${id}") { ${FAILURE} }`)).toMatchObject({
      status: "SUCCESS",
    });
    const { alertRules, alertChannels } = await team("alertRules { id } alertChannels { id waiting dropped problem }");
    expect(alertRules).toEqual([{ id: rule.alertRule.id }]);
    expect(alertChannels).toMatchObject([{ id, waiting: 1, dropped: 0 }]);
    expect(await change(`deleteAlertChannel(alertChannelId: "${id}") { ${FAILURE} }`)).toMatchObject({
      ...{ status: "FAILED", failedMessage: expect.stringContaining("a channel of 1 rule,") },
    });
    await change(`deleteAlertRule(alertRuleId: "${rule.alertRule.id}") { ${FAILURE} }`);
    await change(`deleteAlertChannel(alertChannelId: "${id}") { ${FAILURE} }`);
    expect(await team("alertRules { id } alertChannels { id }")).toEqual({ alertRules: [], alertChannels: [] });
    const rows = await readAudit(hub.storage.db, 20, hub.team.id);
    const actions = rows.map(({ action }) => action).filter((action) => action.startsWith("alert"));
    expect(actions.reverse()).toEqual([
      ...["alert_channel.created", "alert_rule.created", "alert_rule.deleted", "alert_channel.deleted"],
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/hidden|whsec/);
  });

  it("change a rule and rename a channel, and leave what is not given", async () => {
    const RULE = "alertRule { name kind threshold deviceGroupId deviceTag alertChannelId }";
    const { key, team: own } = await hub.makeTeam("Changing", []);
    const by = { now: Date.now(), actor: "x", teamId: own.id };
    const group = await createGroup(hub.storage.db, by, "gates");
    const channel = (
      await change(
        'createAlertChannel(name: "night", webhookUrl: "http://127.0.0.1:9/hook") { alertChannel { id } }',
        key,
      )
    ).alertChannel;
    const made = await change("createAlertRule(kind: DEVICE_OFFLINE) { alertRule { id } }", key);
    const { id } = made.alertRule;
    const update = async (fields: string) => {
      const done = await change(`updateAlertRule(alertRuleId: "${id}", ${fields}) { ${FAILURE} ${RULE} }`, key);
      return done.alertRule ?? done.failedMessage;
    };
    const first = { name: "Device offline for 5 minutes", kind: "DEVICE_OFFLINE", threshold: 5 };
    const nowhere = { deviceGroupId: null, deviceTag: null, alertChannelId: null };
    expect(await update(`deviceGroupId: "${group.id}"`)).toEqual({ ...first, ...nowhere, deviceGroupId: group.id });
    const named = { ...first, name: "Device offline for 9 minutes", threshold: 9, deviceGroupId: group.id };
    expect(await update("threshold: 9")).toEqual({ ...nowhere, ...named });
    expect(await update(`name: "Gates", deviceTag: "north", alertChannelId: "${channel.id}"`)).toEqual({
      ...{ ...named, name: "Gates", deviceTag: "north", alertChannelId: channel.id },
    });
    expect(await update("threshold: null")).toMatchObject({ name: "Gates", threshold: 5, deviceTag: "north" });
    expect(await update("name: null, deviceGroupId: null, deviceTag: null, alertChannelId: null")).toEqual({
      ...{ ...first, ...nowhere },
    });
    for (const [fields, message] of [
      ["threshold: 0", "expected 1 to 43200 minutes"],
      ['deviceGroupId: "x"', "expected one of the team"],
      ['alertChannelId: "x"', "expected one of the team"],
      ['deviceTag: "a,b"', "tag"],
      ['name: ""', "expected 1 to 100"],
    ] as const)
      expect([fields, await update(fields)]).toEqual([fields, expect.stringContaining(message)]);
    expect((await team("alertRules { name threshold }", key)).alertRules).toEqual([{ name: first.name, threshold: 5 }]);
    const rename = `updateAlertChannel(alertChannelId: "${channel.id}", name: "day")`;
    expect(await change(`${rename} { ${FAILURE} alertChannel { name address } }`, key)).toMatchObject({
      ...{ status: "SUCCESS", alertChannel: { name: "day", address: "http://127.0.0.1:9" } },
    });
    // Another team's key finds neither.
    expect((await change(`${rename} { ${FAILURE} }`)).failedMessage).toContain("expected one of the team");
    const theirs = `updateAlertRule(alertRuleId: "${id}", threshold: 7) { ${FAILURE} }`;
    expect((await change(theirs)).failedMessage).toContain("expected one of the team");
    const rows = (await readAudit(hub.storage.db, 20, own.id)).filter(({ action }) => action.startsWith("alert"));
    expect(rows.map(({ action, subject }) => [action, subject]).reverse()).toEqual([
      ["alert_channel.created", expect.stringContaining("night")],
      ["alert_rule.created", `${id} ${first.name}`],
      ["alert_rule.updated", `${id} ${first.name}: group_id`],
      ["alert_rule.updated", `${id} ${named.name}: threshold name`],
      ["alert_rule.updated", `${id} Gates: name tag channel_id`],
      ["alert_rule.updated", `${id} Gates: threshold`],
      ["alert_rule.updated", `${id} ${first.name}: name group_id tag channel_id`],
      ["alert_channel.renamed", `${channel.id} day http://127.0.0.1:9`],
    ]);
  });

  it("have usual names in the singular", async () => {
    const { key } = await hub.makeTeam("Singular", []);
    const RULE = "alertRule { id name }";
    const { id, name } = (await change(`createAlertRule(kind: DEVICE_OFFLINE, threshold: 1) { ${RULE} }`, key))
      .alertRule;
    expect(name).toBe("Device offline for 1 minute");
    const spool = await change(`createAlertRule(kind: SPOOL_FULL, threshold: 1) { ${RULE} }`, key);
    expect(spool.alertRule.name).toBe("Spool 1 per cent full");
    const update = `updateAlertRule(alertRuleId: "${id}", threshold: 21) { ${RULE} }`;
    expect((await change(update, key)).alertRule.name).toBe("Device offline for 21 minutes");
  });

  it("keep a deleted group in a rule whose threshold changes, and name none for rules without devices", async () => {
    const { key, team: own } = await hub.makeTeam("Lost group", []);
    const by = { now: Date.now(), actor: "x", teamId: own.id };
    const group = await createGroup(hub.storage.db, by, "gates");
    const make = async (fields: string) =>
      (await change(`createAlertRule(${fields}) { alertRule { id } }`, key)).alertRule.id as string;
    const rule = await make(`kind: SPOOL_FULL, deviceGroupId: "${group.id}"`);
    await deleteGroup(hub.storage.db, by, group.id);
    const done = await change(
      `updateAlertRule(alertRuleId: "${rule}", threshold: 90) { alertRule { deviceGroupId } }`,
      key,
    );
    expect(done.alertRule).toEqual({ deviceGroupId: group.id });
    const keys = await make("kind: KEY_EXPIRING");
    const failed = await change(`updateAlertRule(alertRuleId: "${keys}", deviceTag: "north") { ${FAILURE} }`, key);
    expect(failed.failedMessage).toContain("not about devices");
  });

  it("say what is wrong with a rule, and take nothing of another team", async () => {
    const other = await hub.makeTeam("Other", []);
    const { id } = await createGroup(hub.storage.db, { now: 1, actor: "x", teamId: other.team.id }, "theirs");
    const failed = async (field: string, key?: string) => (await change(`${field} { ${FAILURE} }`, key)).failedMessage;
    expect(await failed("createAlertRule(kind: SPOOL_FULL, threshold: 101)")).toContain("expected 1 to 100 per cent");
    expect(await failed("createAlertRule(kind: SPOOL_FULL, threshold: -1)")).toContain("expected 1 to 100 per cent");
    expect(await failed(`createAlertRule(kind: SPOOL_FULL, deviceGroupId: "${id}")`)).toContain("one of the team");
    expect(await failed(`createAlertRule(kind: KEY_EXPIRING, deviceGroupId: "${id}")`)).toContain("not about devices");
    expect(await failed('createAlertRule(kind: SPOOL_FULL, name: "a\\nb")')).toContain("control character");
    expect(await failed("silenceAlerts(minutes: 5)")).toContain("expected exactly one");
    expect(await failed('silenceAlerts(minutes: 5, deviceTag: "a", deviceId: "b")')).toContain("expected exactly one");
    expect(await failed('silenceAlerts(minutes: 5, deviceTag: "nobody")')).toContain("expected one of the team");
    expect(await failed('silenceAlerts(minutes: 5, deviceTag: "a,b")')).toContain("without commas");
    expect(await failed(`silenceAlerts(minutes: 5, deviceGroupId: "${id}")`)).toContain("expected one of the team");
    expect(await failed(`silenceAlerts(minutes: 99999999, deviceGroupId: "${id}")`, other.key)).toContain("minutes");
    const made = await change(`createAlertRule(kind: VERSION_FAILED) { alertRule { id } }`, other.key);
    expect(await failed(`deleteAlertRule(alertRuleId: "${made.alertRule.id}")`)).toContain("expected one of the team");
    expect(await team("alertRules { id }")).toEqual({ alertRules: [] });
  });

  it("show alerts of a real device, page by page, and hold messages back", async () => {
    const agents = [await Agent.enrol(hub), await Agent.enrol(hub), await Agent.enrol(hub)];
    for (const agent of agents) {
      const error = { code: "x", message: "bad model" };
      await agent.beat({ application: { identifier: "gate", version: "gate:1", state: "failed", error } });
    }
    const rule = await change(`createAlertRule(kind: VERSION_FAILED) { alertRule { id } }`);
    const { until } = await change(`silenceAlerts(minutes: 30, alertRuleId: "${rule.alertRule.id}") { until }`);
    expect(Date.parse(until)).toBeGreaterThan(Date.now());
    expect((await team("alertSilences { kind targetId until }")).alertSilences).toEqual([
      { kind: "RULE", targetId: rule.alertRule.id, until },
    ]);
    const page = (after: string | null) =>
      team(
        `alerts(first: 2, after: ${JSON.stringify(after)}, filter: { open: true }) { nodes { kind subjectId subjectName endedAt toldAt ruleName } pageInfo { hasNextPage endCursor } }`,
      );
    // The hub looks at its rules every few seconds.
    let first = (await page(null)).alerts;
    for (let i = 0; first.nodes.length < 2 && i < 600; i++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      first = (await page(null)).alerts;
    }
    const second = (await page(first.pageInfo.endCursor)).alerts;
    expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false]);
    const nodes = [...first.nodes, ...second.nodes];
    expect(nodes.map(({ subjectId }) => subjectId).sort()).toEqual(agents.map(({ id }) => id).sort());
    for (const node of nodes)
      expect(node).toMatchObject({ kind: "VERSION_FAILED", subjectName: "Gate 3", endedAt: null, toldAt: null });
    const ofDevice = await team(`alerts(filter: { subjectId: "${agents[0]!.id}" }) { nodes { subjectId } }`);
    expect(ofDevice.alerts.nodes).toEqual([{ subjectId: agents[0]!.id }]);
  });
});
