/** Devices with their tags, pauses and logs, groups of devices, and adopt keys. */
import type { Toolbox } from "./toolbox.ts";

export interface Device {
  readonly id: string;
  readonly name: string;
}

export interface DeviceDetail extends Device {
  readonly status: "ONLINE" | "OFFLINE";
  readonly model: string | null;
  readonly serialNumber: string | null;
  readonly architecture: string | null;
  /** Version of the device's agent. */
  readonly version: string | null;
  /** ISO 8601. */
  readonly lastContactAt: string | null;
  readonly lastStatusChangeAt: string | null;
  readonly conflictAt: string | null;
  /** Time at which the credential was revoked. Null if the device has a credential, or never enrolled. */
  readonly revokedAt: string | null;
  /** Time at which a person paused the device; null while the device processes frames. */
  readonly pausedAt: string | null;
  readonly tags: readonly string[];
  readonly hostUrl: string | null;
  /** Application that the device should run. `version` is the `etag` of a version. */
  readonly desiredApplication: {
    readonly identifier: string;
    readonly version: string;
    readonly number: number;
  } | null;
  /** Application that the device runs or cannot use, by the device's last report. */
  readonly application: {
    readonly identifier: string | null;
    readonly version: string | null;
    readonly state: "APPLIED" | "FAILED";
    readonly error: { readonly code: string; readonly message: string } | null;
  } | null;
}

/** Filter of devices. All given fields must match. */
export interface DevicesFilter {
  /** Part of the name or id. Upper and lower case are equal. */
  readonly search?: string;
  readonly status?: "ONLINE" | "OFFLINE";
  readonly deviceGroupId?: string;
  readonly tag?: string;
  readonly appIdentifier?: string;
  readonly model?: string;
  /** ISO 8601 with an offset. */
  readonly lastContactBefore?: string;
  readonly lastContactAfter?: string;
  readonly only?: "CONFLICT" | "FAILED" | "NEVER_ENROLLED" | "REVOKED" | "PAUSED";
}

export interface DeviceLog {
  readonly id: string;
  readonly receivedAt: string;
  /** FAILED: the device sent the log by itself after a failure. */
  readonly reason: "REQUESTED" | "FAILED";
  /** Lines without secrets: at most 500 lines and 65,536 bytes. */
  readonly text: string;
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
  /** Days until the key ends, 1 to 365. Default 7. */
  readonly expiresInDays?: number;
  /** Largest number of devices that may enrol with the key. Default 1. */
  readonly maxDevices?: number;
  readonly deviceGroupIds?: readonly string[];
  /** Existing device that the key adopts. Other devices cannot enrol with the key. */
  readonly deviceId?: string;
}

export interface DeviceOperations {
  /** Returns all devices of the team that match the filter, ordered by id. */
  devices(filter?: DevicesFilter): Promise<Device[]>;
  /** Returns the devices that match the filter, each with its status, ordered by id. */
  deviceDetails(filter?: DevicesFilter): Promise<DeviceDetail[]>;
  /** Returns a device, or null if the team has no device with this id. */
  device(deviceId: string): Promise<DeviceDetail | null>;
  renameDevice(deviceId: string, name: string): Promise<Device>;
  deleteDevice(deviceId: string): Promise<Device>;
  /** Revokes a device's credential. The hub refuses the device at once, and hosts within a minute. */
  revokeDeviceCredential(deviceId: string): Promise<Device>;
  /**
   * Lets devices come back after a restore. For some hours, a device that proves its identity by its own key gets a new
   * credential. Default 24 hours; 0 closes this period. Returns the end of the period, or null if it is closed.
   */
  letDevicesReturn(hours?: number): Promise<string | null>;
  returningDevicesUntil(): Promise<string | null>;
  /** Counts the devices that lost their credential in a restore and have not come back. */
  awayDeviceCount(): Promise<number>;
  /**
   * Pauses a device. From its next heartbeat until a person resumes it, the device processes no frames. It still sends
   * heartbeats.
   */
  pauseDevice(deviceId: string): Promise<Device>;
  resumeDevice(deviceId: string): Promise<Device>;
  /** Returns all tags that devices of the team have, at most 1,000. */
  deviceTags(): Promise<string[]>;
  /** Replaces all tags of a device by `tags`, which holds at most 20 tags. No tag may contain a comma. */
  setDeviceTags(deviceId: string, tags: readonly string[]): Promise<Device>;
  /** Returns the device's last 3 logs, the newest first. Each log is kept for 7 days. */
  deviceLogs(deviceId: string): Promise<DeviceLog[]>;
  /** Asks for the last lines of a device's log. The answer to the device's next heartbeat carries the request. */
  requestDeviceLog(deviceId: string): Promise<void>;
  deviceGroups(): Promise<DeviceGroup[]>;
  createDeviceGroup(name: string): Promise<DeviceGroup>;
  renameDeviceGroup(deviceGroupId: string, name: string): Promise<DeviceGroup>;
  deleteDeviceGroup(deviceGroupId: string): Promise<DeviceGroup>;
  deviceGroupAddDevice(deviceGroupId: string, deviceId: string): Promise<DeviceGroup>;
  deviceGroupRemoveDevice(deviceGroupId: string, deviceId: string): Promise<DeviceGroup>;
  adoptKeys(): Promise<AdoptKey[]>;
  /** Makes an adopt key. No later answer contains `key`. */
  createAdoptKey(wanted: NewAdoptKey): Promise<{ readonly key: string; readonly adoptKey: AdoptKey }>;
  revokeAdoptKey(adoptKeyId: string): Promise<AdoptKey>;
  deleteAdoptKey(adoptKeyId: string): Promise<AdoptKey>;
}

const DEVICES_A_PAGE = 1000;
const ROWS_A_PAGE = 200;
const DEVICE = "device { id name }";
const DETAIL =
  "id name status model serialNumber architecture version lastContactAt lastStatusChangeAt conflictAt revokedAt pausedAt tags hostUrl desiredApplication { identifier version number } application { identifier version state error { code message } }";
const GROUP = "id name createdAt";
const ADOPT_KEY = "id name status expiresAt maxDevices usedCount";

export function createDeviceOperations({ read, all, change, send }: Toolbox): DeviceOperations {
  const listDevices = <T>(selection: string, filter?: DevicesFilter): Promise<T[]> =>
    all<T>({
      ...{ field: "devices", selection, rows: DEVICES_A_PAGE },
      ...(filter === undefined ? {} : { args: "filter: DevicesFilterInput", values: { filter } }),
    });
  const ofDevice = (field: string, more = "") => change<Device>(field, `deviceId: ID!${more}`, DEVICE);
  const ofGroup = (field: string, more = "") =>
    change<DeviceGroup>(field, `deviceGroupId: ID!${more}`, `deviceGroup { ${GROUP} }`);
  const ofKey = (field: string) => change<AdoptKey>(field, "adoptKeyId: ID!", `adoptKey { ${ADOPT_KEY} }`);
  return {
    devices: (filter) => listDevices<Device>("id name", filter),
    deviceDetails: (filter) => listDevices<DeviceDetail>(DETAIL, filter),
    device: read("device", "deviceId: ID!", `{ ${DETAIL} }`),
    renameDevice: ofDevice("renameDevice", ", name: String!"),
    deleteDevice: ofDevice("deleteDevice"),
    revokeDeviceCredential: ofDevice("revokeDeviceCredential"),
    letDevicesReturn: change("letDevicesReturn", "hours: Int! = 24", "until"),
    returningDevicesUntil: read("returningDevicesUntil", "", ""),
    awayDeviceCount: read("awayDeviceCount", "", ""),
    pauseDevice: ofDevice("pauseDevice"),
    resumeDevice: ofDevice("resumeDevice"),
    deviceTags: read("deviceTags", "", ""),
    setDeviceTags: ofDevice("setDeviceTags", ", tags: [String!]!"),
    deviceLogs: read("deviceLogs", "deviceId: ID!", "{ id receivedAt reason text }"),
    requestDeviceLog: change("requestDeviceLog", "deviceId: ID!", ""),
    deviceGroups: () => all<DeviceGroup>({ field: "deviceGroups", selection: GROUP, rows: ROWS_A_PAGE }),
    createDeviceGroup: change("createDeviceGroup", "name: String!", `deviceGroup { ${GROUP} }`),
    renameDeviceGroup: ofGroup("renameDeviceGroup", ", name: String!"),
    deleteDeviceGroup: ofGroup("deleteDeviceGroup"),
    deviceGroupAddDevice: ofGroup("deviceGroupAddDevice", ", deviceId: ID!"),
    deviceGroupRemoveDevice: ofGroup("deviceGroupRemoveDevice", ", deviceId: ID!"),
    adoptKeys: () => all<AdoptKey>({ field: "adoptKeys", selection: ADOPT_KEY, rows: ROWS_A_PAGE }),
    createAdoptKey: send(
      "createAdoptKey",
      "name: String!, expiresInDays: Int! = 7, maxDevices: Int! = 1, deviceGroupIds: [ID!], deviceId: ID",
      `key adoptKey { ${ADOPT_KEY} }`,
    ),
    revokeAdoptKey: ofKey("revokeAdoptKey"),
    deleteAdoptKey: ofKey("deleteAdoptKey"),
  };
}
