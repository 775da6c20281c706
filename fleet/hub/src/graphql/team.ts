/** The root of every query: the team of the API key, and its devices. */
import type { Team } from "../nouns/team.ts";
import type { Connection, DevicePages, PageArguments } from "./device.ts";

/**
 * Shared by the resolvers of one request. A type and not an interface: graphql-http wants an index signature, and
 * TypeScript implies one for types only.
 */
export type TeamContext = {
  readonly team: Team;
  readonly devices: DevicePages;
};

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
