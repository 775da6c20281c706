/** Data that all resolvers of a request use. */
import type { Services } from "../http/services.ts";
import type { Team } from "../nouns/team.ts";
import type { Values } from "./values.ts";
import type { Change } from "../nouns/audit.ts";
import type { Group } from "../nouns/group.ts";
import type { Scopes } from "../nouns/key-scope.ts";
import type { DesiredVersion } from "../nouns/desired.ts";
import type { DeviceState } from "../nouns/status.ts";
import type { Batch } from "./batch.ts";
import type { DeviceReader } from "./device-arguments.ts";

export interface TeamContext extends Services {
  readonly team: Team;
  /** Name of the caller in the audit: the public id of the API key. */
  readonly actor: string;
  /** Returns the parts of a change by the caller: the time, the team and the caller. */
  readonly change: () => Change;
  /** Areas of the API that the key may use. */
  readonly scopes: Scopes;
  readonly devices: DeviceReader;
  /** States of devices that have enrolled, by id. */
  readonly states: Batch<DeviceState>;
  /** Versions that devices should run, by device id. */
  readonly desiredVersions: Batch<DesiredVersion>;
  /** Tags of devices, by device id. */
  readonly tags: Batch<string[]>;
  /** Groups of devices, by device id. */
  readonly groups: Batch<Group[]>;
  readonly values: Values;
}
