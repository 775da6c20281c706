/** The root of every query: the team of the API key, and its devices. */
import type { Team } from "../nouns/team.ts";
import type { Connection, DevicePages, PageArguments } from "./device.ts";

/** Shared by the resolvers of one request. */
export interface TeamContext {
  readonly team: Team;
  readonly devices: DevicePages;
}

interface TeamValue extends Team {
  readonly devices: (args: PageArguments) => Promise<Connection>;
}

export const root = {
  team: (_: unknown, { team, devices }: TeamContext): TeamValue => ({
    id: team.id,
    name: team.name,
    devices: (args) => devices.read(args),
  }),
};
