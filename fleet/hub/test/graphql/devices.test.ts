/** Devices, groups and adopt keys by GraphQL, as a backend with a team key uses them, on both databases. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { addDevices, listDevices } from "../../src/nouns/device.ts";
import { Agent, enrol } from "../support/agent.ts";
import { startHub, type TestHub, onDatabases } from "../support/hub.ts";

onDatabases("GraphQL of devices", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind, devices: [] })));
  afterAll(() => hub.stop());

  const ask = async (query: string, variables: object = {}): Promise<any> => {
    const { json } = await hub.query(query, hub.key, { body: JSON.stringify({ query, variables }) });
    return json;
  };
  const change = async (field: string, selection: string): Promise<any> => {
    const json = await ask(`mutation { team { ${field} { status failedMessage ${selection} } } }`);
    expect(json.errors).toBeUndefined();
    return Object.values(json.data.team)[0];
  };
  const flush = () => hub.running.app.heartbeats.flush(hub.storage.db);

  it("renames a device at the root too, as an example of the original writes it", async () => {
    const { key, team } = await hub.makeTeam("Root", ["door"]);
    const [device] = await listDevices(hub.storage.db, team.id);
    const query = `mutation ($input: UpdateDeviceInput!) {
        updateDevice(input: $input) { clientMutationId status failedMessage device { name } }
      }`;
    const update = async (deviceId: string): Promise<unknown> => {
      const variables = { input: { clientMutationId: "7", deviceId, name: "gate" } };
      return (await hub.query(query, key, { body: JSON.stringify({ query, variables }) })).json.data.updateDevice;
    };
    expect(await update(device!.id)).toEqual({
      ...{ clientMutationId: "7", status: "SUCCESS", failedMessage: null, device: { name: "gate" } },
    });
    expect(await update("nothing")).toMatchObject({ clientMutationId: "7", status: "FAILED", device: null });
  });

  it("enrols a device with an adopt key of a mutation, and tells all of it", async () => {
    const { deviceGroup } = await change(`createDeviceGroup(name: "north")`, "deviceGroup { id name }");
    const wanted = `name: "wall", maxDevices: 2, deviceGroupIds: ["${deviceGroup.id}"]`;
    const made = await change(`createAdoptKey(${wanted})`, "key adoptKey { id status usedCount maxDevices }");
    expect(made).toMatchObject({
      status: "SUCCESS",
      failedMessage: null,
      adoptKey: { status: "ACTIVE", usedCount: 0 },
    });
    const agent = await Agent.enrol(hub, made.key, { serial_number: "s-9", name: "gate" });
    await agent.beat({
      time: new Date(Date.now() - 120_000).toISOString(),
      network_interfaces: [{ name: "eth0", ipv4: "10.0.0.2", mac: "aa:bb:cc:dd:ee:ff" }],
      application: {
        ...{ identifier: "people", version: "people:1", state: "failed" },
        error: { code: "shape", message: "no" },
      },
    });
    await flush();
    const json = await ask(
      `query ($id: ID!) { team { device(deviceId: $id) {
          id name status model serialNumber architecture kind capabilities version lastContactAt lastStatusChangeAt
          networkInterfaces { interfaceName ipv4Address macAddress } availableUpgrade { id version semver }
          conflictAt clockDifferenceSeconds application { identifier state error { code message } }
          health { frames decodeP99Ms spoolLimitBytes } groups { name } hours { contacts dropped }
        } } }`,
      { id: agent.id },
    );
    expect(json.errors).toBeUndefined();
    const { device } = json.data.team;
    expect(device).toMatchObject({
      ...{ id: agent.id, name: "gate", status: "ONLINE", model: "Pi 5", serialNumber: "s-9", architecture: "arm64" },
      ...{ kind: "SELF_HOSTED", capabilities: [], version: "1.0.0", availableUpgrade: null, conflictAt: null },
      networkInterfaces: [{ interfaceName: "eth0", ipv4Address: "10.0.0.2", macAddress: "aa:bb:cc:dd:ee:ff" }],
      application: { identifier: "people", state: "FAILED", error: { code: "shape", message: "no" } },
      health: { frames: 100, decodeP99Ms: 9, spoolLimitBytes: 1000 },
      groups: [{ name: "north" }],
      hours: [{ contacts: 1, dropped: 0 }],
    });
    // The difference has the way of the heartbeat in it.
    expect(device.clockDifferenceSeconds).toBeLessThanOrEqual(-120);
    expect(device.clockDifferenceSeconds).toBeGreaterThan(-180);
    expect(Date.parse(device.lastContactAt)).toBeGreaterThan(Date.now() - 60_000);
    expect(device.lastStatusChangeAt).toBe(device.lastContactAt);

    const { adoptKey } = await change(
      `revokeAdoptKey(adoptKeyId: "${made.adoptKey.id}")`,
      "adoptKey { status usedCount }",
    );
    expect(adoptKey).toEqual({ status: "REVOKED", usedCount: 1 });
    expect((await enrol(hub, made.key)).status).toBe(403);
    const revoked = await change(
      `revokeDeviceCredential(deviceId: "${agent.id}")`,
      "device { status lastStatusChangeAt revokedAt }",
    );
    // Its last heartbeat is short ago, but the hub refuses it.
    expect(revoked).toMatchObject({ status: "SUCCESS", device: { status: "OFFLINE" } });
    expect(revoked.device.lastStatusChangeAt).toBe(revoked.device.revokedAt);
    expect(Date.parse(revoked.device.revokedAt)).toBeGreaterThan(Date.now() - 60_000);
    expect((await agent.beat()).status).toBe(401);
  });

  it("filters, orders and pages", async () => {
    const names = ["Bravo", "alpha", "Charlie", "delta"];
    await addDevices(
      hub.storage.db,
      Date.now(),
      hub.team.id,
      100,
      names.map((name) => ({ name })),
    );
    const found = async (args: string): Promise<string[]> =>
      (await ask(`{ team { devices(${args}) { nodes { name } } } }`)).data.team.devices.nodes.map((n: any) => n.name);
    expect(await found(`orderBy: { field: NAME }`)).toEqual(["alpha", "Bravo", "Charlie", "delta", "gate"]);
    expect(await found(`filter: { search: "AL" }`)).toEqual(["alpha"]);
    expect(await found(`filter: { only: NEVER_ENROLLED }, orderBy: { field: NAME, direction: DESC }`)).toEqual([
      "delta",
      "Charlie",
      "Bravo",
      "alpha",
    ]);
    expect(await found(`filter: { appIdentifier: "people", model: "Pi 5", status: OFFLINE }`)).toEqual(["gate"]);
    expect(await found(`filter: { only: REVOKED }`)).toEqual(["gate"]);
    expect(await found(`filter: { status: ONLINE }`)).toEqual([]);
    expect(await found(`filter: { lastContactAfter: "2020-01-01T00:00:00+01:00" }`)).toEqual(["gate"]);
    for (const orderBy of ["NAME", "LAST_CONTACT_AT", "ID"]) {
      const seen: string[] = [];
      for (let after: string | null = null; ;) {
        const query = `query ($after: String) { team { devices(first: 2, after: $after, orderBy: { field: ${orderBy}, direction: DESC }) {
            edges { cursor node { name } } pageInfo { hasNextPage endCursor } } } }`;
        const { edges, pageInfo }: any = (await ask(query, { after })).data.team.devices;
        seen.push(...edges.map(({ node }: any) => node.name));
        if (!pageInfo.hasNextPage) break;
        expect(edges.at(-1).cursor).toBe(pageInfo.endCursor);
        after = pageInfo.endCursor;
      }
      expect(seen).toHaveLength(5);
      expect(new Set(seen).size).toBe(5);
    }
  });

  it.each([
    [`devices(filter: { lastContactBefore: "2026-01-01" }) { nodes { id } }`, "with its offset"],
    [`devices(filter: { search: "\\u0000" }) { nodes { id } }`, "got a NUL"],
    [`devices(after: "W10", orderBy: { field: NAME }) { nodes { id } }`, "in the same order"],
    [`devices(first: 0, orderBy: { field: NAME }) { nodes { id } }`, "expected at least 1"],
    [`devices { nodes { hours(last: 721) { contacts } } }`, "expected 1 to 720"],
    [`adoptKeys(first: 201) { nodes { id } }`, "expected 1 to 200"],
  ])("refuses %s", async (field, message) => {
    const { errors } = await ask(`{ team { ${field} } }`);
    expect([errors[0].message, errors[0].extensions.code]).toEqual([expect.stringContaining(message), "invalid_input"]);
  });

  it("changes groups, and says in the result why it cannot", async () => {
    const [device] = await addDevices(hub.storage.db, Date.now(), hub.team.id, 100, [{ name: "member" }]);
    const { deviceGroup: group } = await change(`createDeviceGroup(name: "south")`, "deviceGroup { id }");
    const args = `deviceGroupId: "${group.id}", deviceId: "${device!.id}"`;
    await change(`deviceGroupAddDevice(${args})`, "deviceGroup { id }");
    await change(`renameDeviceGroup(deviceGroupId: "${group.id}", name: "far south")`, "deviceGroup { name }");
    const query = `{ team {
        deviceGroup(deviceGroupId: "${group.id}") { name devices { nodes { name } } }
        deviceGroups(orderBy: { field: NAME, direction: DESC }) { nodes { name } pageInfo { hasNextPage } }
      } }`;
    expect((await ask(query)).data.team).toEqual({
      deviceGroup: { name: "far south", devices: { nodes: [{ name: "member" }] } },
      deviceGroups: { nodes: [{ name: "north" }, { name: "far south" }], pageInfo: { hasNextPage: false } },
    });
    await change(`deviceGroupRemoveDevice(${args})`, "deviceGroup { id }");
    for (const [field, message] of [
      [`createDeviceGroup(name: "far south")`, "does not have yet"],
      [`createDeviceGroup(name: " ")`, "expected 1 to 100"],
      [`deviceGroupAddDevice(deviceGroupId: "x", deviceId: "${device!.id}")`, "expected one of the team"],
      [`deviceGroupAddDevice(deviceGroupId: "${group.id}", deviceId: "x")`, "expected one of the team"],
      [`createAdoptKey(name: "a", expiresInDays: 0)`, "expected a whole number from 1 to 365"],
      [`createAdoptKey(name: "a", deviceId: "x")`, "expected one of the team"],
      [`revokeAdoptKey(adoptKeyId: "x")`, "expected the public id"],
      [`deleteDevice(deviceId: "x")`, "expected one of the team"],
      [`revokeDeviceCredential(deviceId: "x")`, "expected one of the team"],
    ] as const) {
      const result = await change(field, "");
      expect([field, result]).toEqual([field, { status: "FAILED", failedMessage: expect.stringContaining(message) }]);
    }
    await change(`deleteDeviceGroup(deviceGroupId: "${group.id}")`, "deviceGroup { id }");
    expect((await change(`renameDevice(deviceId: "${device!.id}", name: "m2")`, "device { name }")).device.name).toBe(
      "m2",
    );
    expect((await change(`deleteDevice(deviceId: "${device!.id}")`, "device { name }")).device.name).toBe("m2");
    const audited = await hub.storage.db.all<{ actor: string }>(
      "SELECT actor FROM audit WHERE action = 'device.removed'",
    );
    expect(audited).toEqual([{ actor: `key ${hub.keyId}` }]);
  });

  it("pages through adopt keys, the newest first, without the keys", async () => {
    for (const name of ["b", "a", "c"]) await change(`createAdoptKey(name: "${name}")`, "key");
    const page = async (args: string) => {
      const { nodes, pageInfo } = (
        await ask(
          `{ team { adoptKeys(${args}) { nodes { id name status expiresAt deviceGroupIds } pageInfo { hasNextPage endCursor } } } }`,
        )
      ).data.team.adoptKeys;
      return [nodes.map(({ name }: any) => name), pageInfo] as const;
    };
    const [first, { endCursor }] = await page("first: 2");
    expect(first).toEqual(["c", "a"]);
    const [rest, { hasNextPage }] = await page(`first: 2, after: "${endCursor}"`);
    expect([rest, hasNextPage]).toEqual([["b", "wall"], false]);
    const [byName] = await page("first: 4, orderBy: { field: NAME, direction: ASC }");
    expect(byName).toEqual(["a", "b", "c", "wall"]);
  });

  it("never reaches another team", async () => {
    const other = await hub.makeTeam("Other", ["theirs"]);
    const theirs = (await hub.query("{ team { devices { nodes { id } } } }", other.key)).json.data.team.devices
      .nodes[0];
    expect((await ask(`{ team { device(deviceId: "${theirs.id}") { id } } }`)).data.team.device).toBeNull();
    for (const field of [`deleteDevice(deviceId: "${theirs.id}")`, `renameDevice(deviceId: "${theirs.id}", name: "x")`])
      expect((await change(field, "")).status).toBe("FAILED");
    const { data } = await ask("{ team { deviceGroups { nodes { id } } } status }");
    expect(data.status).toBe("ok");
    const group = data.team.deviceGroups.nodes[0].id;
    const query = `{ team { deviceGroup(deviceGroupId: "${group}") { id } devices(filter: { deviceGroupId: "${group}" }) { nodes { id } } } }`;
    expect((await hub.query(query, other.key)).json.data.team).toEqual({ deviceGroup: null, devices: { nodes: [] } });
  });
});

it("asks for states in one query for a hundred devices, and not at all for ids and names", async () => {
  const hub = await startHub({ devices: Array.from({ length: 100 }, (_, i) => `device ${i}`) });
  try {
    const count = (selection: string): Promise<number> =>
      hub.queriesOf(async () => {
        const { json } = await hub.query(`{ team { devices { nodes { ${selection} } } } }`);
        expect(json.data.team.devices.nodes).toHaveLength(100);
      });
    // The key and the list; then one query more.
    expect(await count("id name")).toBe(2);
    expect(await count("id status model version lastContactAt health { frames }")).toBe(3);
    expect(await count("groups { name } status")).toBe(4);
  } finally {
    await hub.stop();
  }
});
