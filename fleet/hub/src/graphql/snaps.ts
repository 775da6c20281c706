/** Resolvers of snaps. */
import { UserError } from "../core/errors.ts";
import { audit } from "../nouns/audit.ts";
import { requestSnap } from "../nouns/snap.ts";
import { deleteSnaps, deleteSnapsBy } from "../nouns/snap-deletion.ts";
import {
  findSnap,
  findSnapFile,
  findSnaps,
  isEmptyFilter,
  listExtrasKeys,
  listExtrasValues,
  listSnapTags,
  type Snap,
  type SnapFileRow,
  type SnapFilter,
} from "../nouns/snap-query.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { iso, readTime } from "./times.ts";
import { queryError } from "./errors.ts";
import { isNoText } from "./mutation.ts";

/** Largest number of snaps that one mutation deletes. */
const MAX_DELETED = 10_000;
const MAX_LIST = 100;

/** The schema's input type `EventSnapFilterInput`. */
interface FilterInput {
  readonly createdAt?: { readonly from?: string | null; readonly to?: string | null } | null;
  readonly sourceDeviceIds?: readonly string[] | null;
  readonly sourceAppIdentifiers?: readonly string[] | null;
  readonly names?: readonly string[] | null;
  readonly tags?: readonly string[] | null;
  readonly extras?: readonly { readonly key: string; readonly value?: string | null }[] | null;
  readonly fileClassifications?: readonly string[] | null;
}

/** Reads a filter. A field with one value becomes a list with one entry. */
function readFilter(input: FilterInput | null | undefined): SnapFilter {
  if (input === null || input === undefined) return {};
  const texts = (list: readonly string[] | null | undefined, name: string): readonly string[] | undefined => {
    if (list === null || list === undefined) return undefined;
    if (list.length > MAX_LIST || isNoText(...list))
      throw queryError(
        "invalid_input",
        `filter.${name}: got ${list.length} texts, expected at most ${MAX_LIST} without NUL`,
      );
    // Replace an empty list by a value that no snap has: `findSnaps` takes an empty list as no filter.
    return list.length === 0 ? ["\u0001"] : list;
  };
  const extras = input.extras ?? undefined;
  texts(
    extras?.flatMap(({ key, value }) => [key, value ?? ""]),
    "extras",
  );
  return {
    from: readTime(input.createdAt?.from, "filter.createdAt.from"),
    to: readTime(input.createdAt?.to, "filter.createdAt.to"),
    deviceIds: texts(input.sourceDeviceIds, "sourceDeviceIds"),
    appIdentifiers: texts(input.sourceAppIdentifiers, "sourceAppIdentifiers"),
    names: texts(input.names, "names"),
    tags: texts(input.tags, "tags"),
    extras: extras?.map(({ key, value }) => ({ key, value: value ?? undefined })),
    classifications: texts(input.fileClassifications, "fileClassifications"),
  };
}

function toFile({ baseUrl }: TeamContext, file: SnapFileRow): object {
  return {
    id: file.id,
    name: file.name,
    classification: file.classification,
    contentType: file.content_type,
    size: file.size,
    sha256: file.sha256,
    url: `${baseUrl}/files/${file.id}`,
  };
}

function toSnap(context: TeamContext, snap: Snap): object {
  return {
    id: snap.id,
    name: snap.name,
    createdAt: iso(snap.created_at),
    tags: snap.tags,
    extras: snap.extras,
    files: snap.files.map((file) => toFile(context, file)),
    sourceDeviceId: snap.device_id,
    sourceAppIdentifier: snap.app_identifier,
    event: () => JSON.parse(snap.event) as unknown,
  };
}

/** Fields of `team` in a query. */
export const snapQueries = (context: TeamContext) => ({
  snap: async ({ snapId }: { snapId: string }) => {
    const snap = isNoText(snapId) ? undefined : await findSnap(context.db, context.team.id, snapId);
    return snap === undefined ? null : toSnap(context, snap);
  },
  snaps: async ({ filter, ...args }: PageArguments & { filter?: FilterInput | null }) => {
    const page = readPage(args, /^\d{1,15} [0-9a-f-]{36}$/);
    const [createdAt, id] = page.after?.split(" ") ?? [];
    const after = id === undefined ? undefined : { createdAt: Number(createdAt), id };
    const rows = await findSnaps(context.db, context.team.id, readFilter(filter), { after, limit: page.limit });
    context.values.count(rows.length);
    return connectionOf(
      rows,
      page,
      (snap) => `${snap.created_at} ${snap.id}`,
      (snap) => toSnap(context, snap),
    );
  },
  snapsTags: () => listSnapTags(context.db, context.team.id),
  snapsExtrasKeys: () => listExtrasKeys(context.db, context.team.id),
  snapsExtrasKeyValues: ({ key }: { key: string }) =>
    isNoText(key) ? [] : listExtrasValues(context.db, context.team.id, key),
  eventFile: async ({ fileId }: { fileId: string }) => {
    const file = isNoText(fileId) ? undefined : await findSnapFile(context.db, context.team.id, fileId);
    return file === undefined ? null : toFile(context, file);
  },
});

/** Fields of `team` in a mutation. */
export function snapMutations(context: TeamContext) {
  const { db, now, actor, team, files } = context;
  const remember = async (deletedCount: number): Promise<{ deletedCount: number }> => {
    if (deletedCount > 0)
      await db.write((tx) => audit(tx, now(), actor, "snap.deleted", team.id, `${deletedCount} snaps`));
    return { deletedCount };
  };
  return {
    deleteSnapsByIds: async ({ snapIds }: { snapIds: readonly string[] }) => {
      if (snapIds.length > MAX_DELETED || isNoText(...snapIds))
        throw new UserError(`snapIds: got ${snapIds.length}, expected at most ${MAX_DELETED} ids`);
      return remember(await deleteSnaps(db, files, team.id, snapIds));
    },
    deleteSnapsByFilter: async ({ filter }: { filter: FilterInput }) => {
      const read = readFilter(filter);
      if (isEmptyFilter(read))
        throw new UserError("filter: got an empty one, which finds every snap, expected at least one condition");
      return remember(await deleteSnapsBy(db, files, team.id, read, MAX_DELETED));
    },
    requestSnap: async ({ deviceId }: { deviceId: string }) => {
      if (!isNoText(deviceId) && (await requestSnap(db, now(), { teamId: team.id, deviceId }))) return {};
      const got = JSON.stringify(deviceId.slice(0, 80));
      throw new UserError(`got device ${got}, expected one of the team that is enrolled and not revoked`, 404);
    },
  };
}
