/** Resolvers of adopt keys. Only the answer of `createAdoptKey` holds the key itself. */
import { newToken } from "../core/ids.ts";
import {
  createAdoptKey,
  deleteAdoptKey,
  findAdoptKey,
  groupIdsOf,
  listAdoptKeys,
  revokeAdoptKey,
  spentBecause,
  type AdoptKey,
} from "../nouns/adoptkey.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { isoOrNull } from "./times.ts";
import { given, isNoText } from "./mutation.ts";
import { ANY_CURSOR, cursorOf, sliceOf, type OrderArgument } from "./ordered.ts";

function toAdoptKey({ db, now }: TeamContext, key: AdoptKey): object {
  const spent = spentBecause(key, now());
  return {
    ...{ id: key.id, name: key.name, deviceId: key.device_id, createdBy: key.created_by },
    status: spent === undefined ? "ACTIVE" : spent.replace(" ", "_").toUpperCase(),
    createdAt: isoOrNull(key.created_at),
    expiresAt: isoOrNull(key.expires_at),
    ...{ maxDevices: key.max_devices, usedCount: key.used },
    lastUsedAt: isoOrNull(key.last_used_at),
    revokedAt: isoOrNull(key.revoked_at),
    deviceGroupIds: () => groupIdsOf(db, key.id),
  };
}

interface KeysArguments extends PageArguments {
  readonly orderBy?: OrderArgument | null;
}

/** Fields of `team` in a query. */
export const adoptKeyQueries = (context: TeamContext) => ({
  adoptKey: async ({ adoptKeyId }: { adoptKeyId: string }) => {
    const key = isNoText(adoptKeyId) ? undefined : await findAdoptKey(context.db, context.team.id, adoptKeyId);
    return key === undefined ? null : toAdoptKey(context, key);
  },
  adoptKeys: async ({ orderBy, ...args }: KeysArguments) => {
    const page = readPage(args, ANY_CURSOR);
    const valueOf = (key: AdoptKey): string | number =>
      orderBy?.field === "NAME"
        ? key.name.toLowerCase()
        : orderBy?.field === "EXPIRES_AT"
          ? key.expires_at
          : key.created_at;
    const keys = await listAdoptKeys(context.db, context.team.id);
    const rows = sliceOf(keys, valueOf, (orderBy?.direction ?? "DESC") === "DESC", page);
    context.values.count(rows.length);
    return connectionOf(
      rows,
      page,
      (row) => cursorOf({ value: valueOf(row), id: row.id }),
      (row) => toAdoptKey(context, row),
    );
  },
});

interface CreateArguments {
  readonly name: string;
  readonly expiresInDays: number;
  readonly maxDevices: number;
  readonly deviceGroupIds?: readonly string[] | null;
  readonly deviceId?: string | null;
}

/** Fields of `team` in a mutation. */
export function adoptKeyMutations(context: TeamContext) {
  const { db, change, team } = context;
  return {
    createAdoptKey: async (args: CreateArguments) => {
      const made = await createAdoptKey(db, change(), newToken(), {
        name: args.name,
        days: args.expiresInDays,
        devices: args.maxDevices,
        groupIds: given(args.deviceGroupIds) ?? [],
        deviceId: given(args.deviceId),
      });
      const key = await findAdoptKey(db, team.id, made!.id);
      return { adoptKey: toAdoptKey(context, key!), key: made!.key };
    },
    revokeAdoptKey: async ({ adoptKeyId }: { adoptKeyId: string }) => ({
      adoptKey: toAdoptKey(context, await revokeAdoptKey(db, change(), adoptKeyId)),
    }),
    deleteAdoptKey: async ({ adoptKeyId }: { adoptKeyId: string }) => ({
      adoptKey: toAdoptKey(context, await deleteAdoptKey(db, change(), adoptKeyId)),
    }),
  };
}
