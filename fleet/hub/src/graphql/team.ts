/** The root of every operation: the team of the API key. `query` reads it, `mutation` changes it. */
import { alertMutations, alertQueries } from "./alerts.ts";
import { adoptKeyMutations, adoptKeyQueries } from "./adopt-keys.ts";
import { appMutations, appQueries } from "./applications.ts";
import type { TeamContext } from "./context.ts";
import { modelMutations, modelQueries } from "./models.ts";
import { snapMutations, snapQueries } from "./snaps.ts";
import { deviceMutations, deviceQueries } from "./device.ts";
import { groupMutations, groupQueries } from "./groups.ts";

interface UpdateDevice {
  readonly clientMutationId?: string | null;
  readonly deviceId: string;
  readonly name: string;
}

export const root = {
  query: {
    status: () => "ok",
    team: (_: unknown, context: TeamContext) => ({
      id: context.team.id,
      name: context.team.name,
      ...deviceQueries(context),
      ...groupQueries(context),
      ...adoptKeyQueries(context),
      ...appQueries(context),
      ...modelQueries(context),
      ...snapQueries(context),
      ...alertQueries(context),
    }),
  },
  mutation: {
    updateDevice: async ({ input }: { input: UpdateDevice }, context: TeamContext) => ({
      clientMutationId: input.clientMutationId ?? null,
      ...(await deviceMutations(context).renameDevice(input)),
    }),
    team: (_: unknown, context: TeamContext) => ({
      ...deviceMutations(context),
      ...groupMutations(context),
      ...adoptKeyMutations(context),
      ...appMutations(context),
      ...modelMutations(context),
      ...snapMutations(context),
      ...alertMutations(context),
    }),
  },
};
