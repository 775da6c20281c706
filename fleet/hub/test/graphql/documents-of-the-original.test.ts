/**
 * Documents as the guides of the original control API write them: each is valid here. Names that those guides print
 * are root types, fields, arguments and types of variables.
 */
import { readFileSync } from "node:fs";
import { buildSchema, parse, validate } from "graphql";
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
