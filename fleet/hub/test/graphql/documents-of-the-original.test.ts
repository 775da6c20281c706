/**
 * Documents as the guides of the original control API write them: each is valid here. Names that those guides print
 * are root types, fields, arguments and types of variables.
 */
import { readFileSync } from "node:fs";
import { buildSchema, isObjectType, parse, validate, type GraphQLField } from "graphql";
import { describe, expect, it } from "vitest";

const schema = buildSchema(readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8"));

const DOCUMENTS: Readonly<Record<string, string>> = {
  status: "query { status }",
  "root types": `
    fragment Root on PublicQuery { status team { id name } }
    fragment Change on PublicMutation { team { __typename } }
    query Q { ...Root }
    mutation M { ...Change }`,
  "a page of devices": `
    query Devices($first: Int!, $after: String) {
      team {
        devices(first: $first, after: $after) {
          nodes { id name status }
          edges { cursor node { id } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }`,
  "devices by a filter": `
    query Devices($filter: DevicesFilterInput, $first: Int) {
      team { devices(first: $first, filter: $filter) {
        nodes { id name status model architecture version lastContactAt }
      } }
    }`,
  "a device": `
    query Device($deviceId: ID!) {
      team { device(deviceId: $deviceId) {
        id name status model serialNumber architecture kind capabilities version lastContactAt lastStatusChangeAt
        networkInterfaces { interfaceName ipv4Address macAddress }
        availableUpgrade { id version semver }
      } }
    }`,
  "an update of a device": `
    mutation UpdateDevice($input: UpdateDeviceInput!) { updateDevice(input: $input) { clientMutationId } }`,
  "a removed device": `
    mutation Delete($deviceId: ID!) { team { deleteDevice(deviceId: $deviceId) { status failedMessage } } }`,
  groups: `
    query Groups($first: Int, $after: String, $deviceGroupId: ID!) {
      team {
        deviceGroups(first: $first, after: $after) { nodes { id name } edges { node { id } } pageInfo { endCursor } }
        deviceGroup(deviceGroupId: $deviceGroupId) { id name }
      }
    }
    mutation Change($name: String!, $deviceGroupId: ID!, $deviceId: ID!) {
      team {
        createDeviceGroup(name: $name) { status failedMessage deviceGroup { id name } }
        renameDeviceGroup(deviceGroupId: $deviceGroupId, name: $name) { status failedMessage }
        deviceGroupAddDevice(deviceGroupId: $deviceGroupId, deviceId: $deviceId) { status failedMessage }
        deviceGroupRemoveDevice(deviceGroupId: $deviceGroupId, deviceId: $deviceId) { status failedMessage }
        deleteDeviceGroup(deviceGroupId: $deviceGroupId) { status failedMessage }
      }
    }`,
  "adopt keys": `
    fragment Keys on TeamAdoptKeyConnection { nodes { ...Key } pageInfo { hasNextPage endCursor } }
    fragment Key on TeamAdoptKey { id }
    query AdoptKeys($adoptKeyId: ID!, $after: String, $first: Int, $orderBy: TeamAdoptKeyOrderBy) {
      team {
        adoptKey(adoptKeyId: $adoptKeyId) { ...Key }
        adoptKeys(after: $after, first: $first, orderBy: $orderBy) { ...Keys }
      }
    }
    mutation Change($name: String!, $adoptKeyId: ID!) {
      team {
        createAdoptKey(name: $name) { status failedMessage adoptKey { ...Key } }
        revokeAdoptKey(adoptKeyId: $adoptKeyId) { status failedMessage }
        deleteAdoptKey(adoptKeyId: $adoptKeyId) { status failedMessage }
      }
    }`,
  applications: `
    fragment Fields on App { id identifier isPublic scope coverImageUrl tags createdAt updatedAt }
    query Apps($appId: ID!) { team { apps { nodes { ...Fields } } app(appId: $appId) { ...Fields } } }`,
  snaps: `
    query Snaps($first: Int, $after: String, $filter: EventSnapFilterInput, $key: String!, $id: ID!) {
      team {
        snaps(first: $first, after: $after, filter: $filter) {
          nodes {
            id name createdAt tags extras sourceDeviceId sourceAppIdentifier
            files { id name classification }
          }
          pageInfo { hasNextPage endCursor }
        }
        snap(snapId: $id) { ... on EventSnap { id } }
        snapsTags
        snapsExtrasKeys
        snapsExtrasKeyValues(key: $key)
        eventFile(fileId: $id) { ... on EventFile { id } }
      }
    }
    mutation Delete($snapIds: [ID!]!, $filter: EventSnapFilterInput!) {
      team {
        deleteSnapsByIds(snapIds: $snapIds) { status failedMessage }
        deleteSnapsByFilter(filter: $filter) { status failedMessage }
      }
    }`,
};

describe("a document of the original", () => {
  it.each(Object.entries(DOCUMENTS))("%s", (_, text) => {
    // One operation after the other, as the hub takes them: a document may have several.
    expect(validate(schema, parse(text)).map(({ message }) => message)).toEqual([]);
  });
});

/** Every documented operation that is here, with its documented arguments. */
const HERE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  PublicQuery: { status: [], team: [] },
  PublicMutation: { team: [], updateDevice: ["input"] },
  Team: {
    devices: ["first", "after", "filter", "orderBy"],
    device: ["deviceId"],
    deviceGroup: ["deviceGroupId"],
    deviceGroups: ["first", "after", "orderBy"],
    adoptKey: ["adoptKeyId"],
    adoptKeys: ["after", "first", "orderBy"],
    app: ["appId"],
    apps: ["first", "after"],
    snap: ["snapId"],
    snaps: ["first", "after", "filter"],
    ...{ snapsTags: [], snapsExtrasKeys: [], snapsExtrasKeyValues: ["key"], eventFile: ["fileId"] },
  },
  TeamMutation: {
    deleteDevice: ["deviceId"],
    createDeviceGroup: ["name"],
    renameDeviceGroup: ["deviceGroupId", "name"],
    deleteDeviceGroup: ["deviceGroupId"],
    deviceGroupAddDevice: ["deviceGroupId", "deviceId"],
    deviceGroupRemoveDevice: ["deviceGroupId", "deviceId"],
    ...{ createAdoptKey: ["name"], revokeAdoptKey: ["adoptKeyId"], deleteAdoptKey: ["adoptKeyId"] },
    ...{ deleteSnapsByIds: ["snapIds"], deleteSnapsByFilter: ["filter"] },
  },
};

/** Every documented operation, field and type that is not here. */
const ABSENT = [
  ...["publicApp", "publicApps", "appRelease", "deviceApp", "deviceApps", "installAppOnDevice", "startDeviceApp"],
  ...["stopDeviceApp", "enableDeviceApp", "disableDeviceApp", "deleteDeviceApp", "requestDeviceAppConnection"],
  ...["setDeviceAppConfig", "rebootDevice", "startOtaOnDevice", "abortOtaOnDevice", "deviceUpgrades"],
  ...["requestDeviceWebrtcConfig", "stats", "store", "AppDetail", "AppFrontend", "AppReleaseModel", "DeviceAppState"],
  ...["DeviceAppFailure", "DeviceAppUpdate", "DeviceOsRelease"],
];

describe("what the original documents", () => {
  const page = readFileSync(new URL("../../docs/control.md", import.meta.url), "utf8");
  const sections = new Map(page.split("\n## ").map((text) => [text.split("\n")[0]!, text]));
  const fieldsOf = (name: string): Readonly<Record<string, GraphQLField<unknown, unknown>>> => {
    const type = schema.getType(name);
    return isObjectType(type) ? type.getFields() : {};
  };

  it("is here with its arguments, and stands in the table", () => {
    for (const [type, fields] of Object.entries(HERE))
      for (const [name, args] of Object.entries(fields)) {
        expect([name, fieldsOf(type)[name]?.args.map((arg) => arg.name)]).toEqual([
          name,
          expect.arrayContaining([...args]),
        ]);
        if (name !== "team") expect(sections.get("Documented, and here")).toMatch(new RegExp(`\\b${name}\\b`));
      }
  });

  it("or is told with the reason why it is not here", () => {
    const rows = sections
      .get("Documented, and not here")!
      .split("\n")
      .filter((line) => line.startsWith("|"));
    const names = Object.keys(schema.getTypeMap()).flatMap((type) => [type, ...Object.keys(fieldsOf(type))]);
    for (const name of ABSENT) {
      // `deviceApp(s)` stands for both.
      const row = rows.find((line) => line.replace("deviceApp(s)", "deviceApp` `deviceApps").includes(`\`${name}\``));
      expect([name, row?.split("|")[2]?.trim()]).toEqual([name, expect.stringMatching(/\w+ \w+/)]);
      expect(names).not.toContain(name);
    }
  });

  it("pages in one form: nodes, edges with cursors, pageInfo, first and after", () => {
    const connections = Object.entries(fieldsOf("Team")).filter(([, { type }]) => /Connection!?$/.test(String(type)));
    expect(connections.map(([name]) => name).sort()).toEqual([
      "adoptKeys",
      "alerts",
      "apps",
      "deviceGroups",
      "devices",
      "models",
      "snaps",
    ]);
    for (const [, { args, type }] of connections) {
      const name = String(type).replace("!", "");
      expect(args.map((arg) => arg.name)).toEqual(expect.arrayContaining(["first", "after"]));
      expect(Object.keys(fieldsOf(name))).toEqual(["nodes", "edges", "pageInfo"]);
      expect(Object.keys(fieldsOf(name.replace("Connection", "Edge")))).toEqual(["node", "cursor"]);
    }
    expect(Object.keys(fieldsOf("PageInfo"))).toEqual(["hasNextPage", "endCursor"]);
  });

  it("answers mutations with status and failedMessage", () => {
    for (const { type } of [...Object.values(fieldsOf("TeamMutation")), fieldsOf("PublicMutation")["updateDevice"]!]) {
      const fields = fieldsOf(String(type).replace("!", ""));
      expect([String(fields["status"]?.type), String(fields["failedMessage"]?.type)]).toEqual([
        "MutationStatus!",
        "String",
      ]);
    }
  });
});
