/** The documented operations on devices, groups and adopt keys: one method each. A list fetches its pages by itself. */

export interface Device {
  readonly id: string;
  readonly name: string;
}

export interface DeviceDetail extends Device {
  readonly status: "ONLINE" | "OFFLINE";
  readonly model: string | null;
  readonly serialNumber: string | null;
  readonly architecture: string | null;
  /** Version of its agent. */
  readonly version: string | null;
  /** ISO 8601. */
  readonly lastContactAt: string | null;
  readonly lastStatusChangeAt: string | null;
  readonly conflictAt: string | null;
  readonly hostUrl: string | null;
  readonly application: {
    readonly identifier: string | null;
    readonly version: string | null;
    readonly state: "APPLIED" | "FAILED";
    readonly error: { readonly code: string; readonly message: string } | null;
  } | null;
}

/** A device passes if it fits all fields that are given. */
export interface DevicesFilter {
  /** A part of the name or of the id, in any case. */
  readonly search?: string;
  readonly status?: "ONLINE" | "OFFLINE";
  readonly deviceGroupId?: string;
  readonly appIdentifier?: string;
  readonly model?: string;
  /** ISO 8601 with an offset. */
  readonly lastContactBefore?: string;
  readonly lastContactAfter?: string;
  readonly only?: "CONFLICT" | "FAILED" | "NEVER_ENROLLED";
}

export interface DeviceGroup {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface AdoptKey {
  /** Public id. */
  readonly id: string;
  readonly name: string;
  readonly status: "ACTIVE" | "REVOKED" | "EXPIRED" | "USED_UP";
  readonly expiresAt: string;
  readonly maxDevices: number;
  readonly usedCount: number;
}

export interface NewAdoptKey {
  readonly name: string;
  /** 1 to 365, by default 7. */
  readonly expiresInDays?: number;
  /** By default 1. */
  readonly maxDevices?: number;
  readonly deviceGroupIds?: readonly string[];
  /** Adopts this device of the team, and no other. */
  readonly deviceId?: string;
}

export interface Operations {
  /** Returns all devices of the team that pass, in the order of their ids. */
  devices(filter?: DevicesFilter): Promise<Device[]>;
  /** Returns the same devices with their status. */
  deviceDetails(filter?: DevicesFilter): Promise<DeviceDetail[]>;
  /** Returns one device, or null if the team has none of this id. */
  device(deviceId: string): Promise<DeviceDetail | null>;
  renameDevice(deviceId: string, name: string): Promise<Device>;
  deleteDevice(deviceId: string): Promise<Device>;
  /** The hub refuses the device now, hosts within a minute. */
  revokeDeviceCredential(deviceId: string): Promise<Device>;
  deviceGroups(): Promise<DeviceGroup[]>;
  createDeviceGroup(name: string): Promise<DeviceGroup>;
  renameDeviceGroup(deviceGroupId: string, name: string): Promise<DeviceGroup>;
  deleteDeviceGroup(deviceGroupId: string): Promise<DeviceGroup>;
  deviceGroupAddDevice(deviceGroupId: string, deviceId: string): Promise<DeviceGroup>;
  deviceGroupRemoveDevice(deviceGroupId: string, deviceId: string): Promise<DeviceGroup>;
  adoptKeys(): Promise<AdoptKey[]>;
  /** `key` is in this answer and nowhere else. */
  createAdoptKey(wanted: NewAdoptKey): Promise<{ readonly key: string; readonly adoptKey: AdoptKey }>;
  revokeAdoptKey(adoptKeyId: string): Promise<AdoptKey>;
  deleteAdoptKey(adoptKeyId: string): Promise<AdoptKey>;
}

export type Ask = (text: string, variables: Record<string, unknown>) => Promise<unknown>;

/** Rows that one request asks for. The hub refuses an answer of more than 100,000 values. */
const DEVICES_A_PAGE = 1000;
const ROWS_A_PAGE = 200;
const DEVICE = "id name";
const DETAIL =
  "id name status model serialNumber architecture version lastContactAt lastStatusChangeAt conflictAt hostUrl application { identifier version state error { code message } }";
const GROUP = "id name createdAt";
const ADOPT_KEY = "id name status expiresAt maxDevices usedCount";

interface Page {
  readonly nodes: readonly unknown[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

type Arguments = Readonly<Record<string, string>>;

/** Returns a maker of functions that send one mutation. `args` are names and types of its arguments. */
const mutations =
  (change: Ask) =>
  <T>(field: string, args: Arguments, selection: string) => {
    const declared = Object.entries(args).map(([name, type]) => `$${name}: ${type}`);
    const passed = Object.keys(args).map((name) => `${name}: $${name}`);
    const text = `mutation (${declared.join(", ")}) { team { ${field}(${passed.join(", ")}) { status failedMessage ${selection} } } }`;
    return async (variables: Record<string, unknown>): Promise<T> => {
      const { team } = (await change(text, variables)) as { team: Record<string, unknown> };
      return team[field] as T;
    };
  };

/** @param change sends a mutation, and throws if its result says FAILED */
export function createOperations(query: Ask, change: Ask): Operations {
  /** Reads all pages of a connection of the team. */
  async function all<T>(field: string, selection: string, first: number, filter?: DevicesFilter): Promise<T[]> {
    const [declared, passed] = filter === undefined ? ["", ""] : [", $filter: DevicesFilterInput", ", filter: $filter"];
    const text = `query ($first: Int!, $after: String${declared}) { team { ${field}(first: $first, after: $after${passed}) { nodes { ${selection} } pageInfo { hasNextPage endCursor } } } }`;
    const rows: T[] = [];
    for (let after: string | null = null; ;) {
      const variables = { first, after, ...(filter === undefined ? {} : { filter }) };
      const { team } = (await query(text, variables)) as { team: Record<string, Page> };
      const { nodes, pageInfo } = team[field]!;
      rows.push(...(nodes as T[]));
      if (!pageInfo.hasNextPage) return rows;
      after = pageInfo.endCursor;
    }
  }

  const mutation = mutations(change);
  const id = "ID!";
  const ofDevice = (field: string) => {
    const send = mutation<{ device: Device }>(field, { deviceId: id }, `device { ${DEVICE} }`);
    return async (deviceId: string): Promise<Device> => (await send({ deviceId })).device;
  };
  const ofGroup = (field: string, args: Arguments) => {
    const send = mutation<{ deviceGroup: DeviceGroup }>(field, args, `deviceGroup { ${GROUP} }`);
    return async (variables: Record<string, unknown>): Promise<DeviceGroup> => (await send(variables)).deviceGroup;
  };
  const ofKey = (field: string) => {
    const send = mutation<{ adoptKey: AdoptKey }>(field, { adoptKeyId: id }, `adoptKey { ${ADOPT_KEY} }`);
    return async (adoptKeyId: string): Promise<AdoptKey> => (await send({ adoptKeyId })).adoptKey;
  };
  const rename = mutation<{ device: Device }>(
    "renameDevice",
    { deviceId: id, name: "String!" },
    `device { ${DEVICE} }`,
  );
  const createGroup = ofGroup("createDeviceGroup", { name: "String!" });
  const renameGroup = ofGroup("renameDeviceGroup", { deviceGroupId: id, name: "String!" });
  const deleteGroup = ofGroup("deleteDeviceGroup", { deviceGroupId: id });
  const add = ofGroup("deviceGroupAddDevice", { deviceGroupId: id, deviceId: id });
  const remove = ofGroup("deviceGroupRemoveDevice", { deviceGroupId: id, deviceId: id });
  const makeKey = mutation<{ key: string; adoptKey: AdoptKey }>(
    "createAdoptKey",
    {
      ...{ name: "String!", expiresInDays: "Int! = 7", maxDevices: "Int! = 1" },
      ...{ deviceGroupIds: "[ID!]", deviceId: "ID" },
    },
    `key adoptKey { ${ADOPT_KEY} }`,
  );
  return {
    devices: (filter) => all<Device>("devices", DEVICE, DEVICES_A_PAGE, filter),
    deviceDetails: (filter) => all<DeviceDetail>("devices", DETAIL, DEVICES_A_PAGE, filter),
    async device(deviceId) {
      const text = `query ($deviceId: ID!) { team { device(deviceId: $deviceId) { ${DETAIL} } } }`;
      return ((await query(text, { deviceId })) as { team: { device: DeviceDetail | null } }).team.device;
    },
    renameDevice: async (deviceId, name) => (await rename({ deviceId, name })).device,
    deleteDevice: ofDevice("deleteDevice"),
    revokeDeviceCredential: ofDevice("revokeDeviceCredential"),
    deviceGroups: () => all<DeviceGroup>("deviceGroups", GROUP, ROWS_A_PAGE),
    createDeviceGroup: (name) => createGroup({ name }),
    renameDeviceGroup: (deviceGroupId, name) => renameGroup({ deviceGroupId, name }),
    deleteDeviceGroup: (deviceGroupId) => deleteGroup({ deviceGroupId }),
    deviceGroupAddDevice: (deviceGroupId, deviceId) => add({ deviceGroupId, deviceId }),
    deviceGroupRemoveDevice: (deviceGroupId, deviceId) => remove({ deviceGroupId, deviceId }),
    adoptKeys: () => all<AdoptKey>("adoptKeys", ADOPT_KEY, ROWS_A_PAGE),
    createAdoptKey: async (wanted) => {
      const { key, adoptKey } = await makeKey({ ...wanted });
      return { key, adoptKey };
    },
    revokeAdoptKey: ofKey("revokeAdoptKey"),
    deleteAdoptKey: ofKey("deleteAdoptKey"),
  };
}
