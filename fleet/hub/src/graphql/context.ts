/** What resolvers of one request share. */
import type { Services } from "../http/services.ts";
import type { Team } from "../nouns/team.ts";
import type { Values } from "./values.ts";
import type { DevicePages } from "./device.ts";

export interface TeamContext extends Services {
  readonly team: Team;
  /** Who asks, for the audit: the public id of the key. */
  readonly actor: string;
  readonly devices: DevicePages;
  readonly values: Values;
}
