/** The root of every operation: the team of the API key. A query reads the team, a mutation changes it. */
import { mayChange, mayRead, type Area } from "../nouns/key-scope.ts";
import { alertMutations, alertQueries } from "./alerts.ts";
import { apiKeyMutations, apiKeyQueries } from "./api-keys.ts";
import { adoptKeyMutations, adoptKeyQueries } from "./adopt-keys.ts";
import { appMutations, appQueries } from "./applications.ts";
import type { TeamContext } from "./context.ts";
import { queryError } from "./errors.ts";
import { attempt } from "./mutation.ts";
import { modelMutations, modelQueries } from "./models.ts";
import { snapMutations, snapQueries } from "./snaps.ts";
import { deviceMutations, deviceQueries } from "./device.ts";
import { deviceLogMutations, deviceLogQueries } from "./device-logs.ts";
import { groupMutations, groupQueries } from "./groups.ts";

interface UpdateDevice {
  readonly clientMutationId?: string | null;
  readonly deviceId: string;
  readonly name: string;
}

type Resolve = (args: object) => Promise<object> | object;
type Fields = (context: TeamContext) => object;

/**
 * Fields of `team`, by the area that the key must be allowed to use. A field outside of this list would be unreachable.
 */
const QUERIES: readonly (readonly [Area, ...Fields[]])[] = [
  ["devices", deviceQueries, deviceLogQueries, groupQueries, adoptKeyQueries],
  ["applications", appQueries, modelQueries],
  ["snaps", snapQueries],
  ["alerts", alertQueries],
  ["keys", apiKeyQueries],
];
const MUTATIONS: readonly (readonly [Area, ...Fields[]])[] = [
  ["devices", deviceMutations, deviceLogMutations, groupMutations, adoptKeyMutations],
  ["applications", appMutations, modelMutations],
  ["snaps", snapMutations],
  ["alerts", alertMutations],
  ["keys", apiKeyMutations],
];

/** Throws unless the key may use the area. */
function admit({ scopes }: TeamContext, area: Area, may: typeof mayRead): void {
  if (may(scopes, area)) return;
  const named = ["devices", "applications", "snaps"].includes(area) ? `the scope ${area}` : "full access";
  const also = may === mayRead && area !== "keys" ? " or read" : "";
  throw queryError("missing_scope", `got a key with ${scopes?.join(", ")}, expected one with ${named}${also}`);
}

/** Returns the fields of all areas. A field whose area the key may not use throws when the query asks for it. */
function fieldsOf(context: TeamContext, areas: typeof QUERIES, may: typeof mayRead): Readonly<Record<string, Resolve>> {
  const guarded = areas.flatMap(([area, ...parts]) =>
    parts.flatMap((part) =>
      Object.entries(part(context)).map(([name, resolve]) => [
        name,
        may(context.scopes, area) ? (resolve as unknown) : () => admit(context, area, may),
      ]),
    ),
  );
  return Object.fromEntries(guarded) as Readonly<Record<string, Resolve>>;
}

/** Returns mutations whose results have a status. A key that may not use a field gets an error of the query instead. */
const changesOf = (fields: Readonly<Record<string, Resolve>>): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, resolve]) => [name, (args: object) => attempt(async () => resolve(args))]),
  );

export const root = {
  query: {
    status: () => "ok",
    team: (_: unknown, context: TeamContext) => ({
      id: context.team.id,
      name: context.team.name,
      ...fieldsOf(context, QUERIES, mayRead),
    }),
  },
  mutation: {
    updateDevice: async ({ input }: { input: UpdateDevice }, context: TeamContext) => {
      admit(context, "devices", mayChange);
      return {
        clientMutationId: input.clientMutationId ?? null,
        ...(await attempt(() => deviceMutations(context).renameDevice(input))),
      };
    },
    team: (_: unknown, context: TeamContext) => changesOf(fieldsOf(context, MUTATIONS, mayChange)),
  },
};
