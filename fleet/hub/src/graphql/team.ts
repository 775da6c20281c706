/** The root of every operation: the team of the API key. `query` reads it, `mutation` changes it. */
import { appMutations, appQueries } from "./applications.ts";
import type { PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { snapMutations, snapQueries } from "./snaps.ts";

export const root = {
  query: {
    team: (_: unknown, context: TeamContext) => ({
      id: context.team.id,
      name: context.team.name,
      devices: (args: PageArguments) => context.devices.read(args),
      ...appQueries(context),
      ...snapQueries(context),
    }),
  },
  mutation: {
    team: (_: unknown, context: TeamContext) => ({ ...appMutations(context), ...snapMutations(context) }),
  },
};
