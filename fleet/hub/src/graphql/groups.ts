/** Resolvers of groups of devices. */
import {
  addToGroup,
  createGroup,
  deleteGroup,
  findGroup,
  listGroups,
  removeFromGroup,
  renameGroup,
} from "../nouns/group.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { toGroup } from "./group-node.ts";
import { isNoText } from "./mutation.ts";
import { ANY_CURSOR, cursorOf, sliceOf, type OrderArgument } from "./ordered.ts";

interface GroupsArguments extends PageArguments {
  readonly orderBy?: OrderArgument | null;
}

/** Fields of `team` in a query. */
export const groupQueries = ({ db, team, values }: TeamContext) => ({
  deviceGroup: async ({ deviceGroupId }: { deviceGroupId: string }) => {
    const group = isNoText(deviceGroupId) ? undefined : await findGroup(db, team.id, deviceGroupId);
    return group === undefined ? null : toGroup(group);
  },
  deviceGroups: async ({ orderBy, ...args }: GroupsArguments) => {
    const page = readPage(args, ANY_CURSOR);
    const valueOf = ({ name, created_at }: { name: string; created_at: number }): string | number =>
      orderBy?.field === "CREATED_AT" ? created_at : name.toLowerCase();
    const rows = sliceOf(await listGroups(db, team.id), valueOf, orderBy?.direction === "DESC", page);
    values.count(rows.length);
    return connectionOf(rows, page, (row) => cursorOf({ value: valueOf(row), id: row.id }), toGroup);
  },
});

interface MemberArguments {
  readonly deviceGroupId: string;
  readonly deviceId: string;
}

/** Fields of `team` in a mutation. */
export function groupMutations({ db, change }: TeamContext) {
  return {
    createDeviceGroup: async ({ name }: { name: string }) => ({
      deviceGroup: toGroup(await createGroup(db, change(), name)),
    }),
    renameDeviceGroup: async ({ deviceGroupId, name }: { deviceGroupId: string; name: string }) => ({
      deviceGroup: toGroup(await renameGroup(db, change(), deviceGroupId, name)),
    }),
    deleteDeviceGroup: async ({ deviceGroupId }: { deviceGroupId: string }) => ({
      deviceGroup: toGroup(await deleteGroup(db, change(), deviceGroupId)),
    }),
    deviceGroupAddDevice: async ({ deviceGroupId, deviceId }: MemberArguments) => {
      const { group } = await addToGroup(db, change(), deviceGroupId, [deviceId]);
      return { deviceGroup: toGroup(group) };
    },
    deviceGroupRemoveDevice: async ({ deviceGroupId, deviceId }: MemberArguments) => {
      const { group } = await removeFromGroup(db, change(), deviceGroupId, [deviceId]);
      return { deviceGroup: toGroup(group) };
    },
  };
}
