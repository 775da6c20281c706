/** All methods of the client except `query`, and their common parts: reading pages and sending mutations. */
import { createAlertOperations, type AlertOperations } from "./alerts.ts";
import { createApiKeyOperations, type ApiKeyOperations } from "./api-keys.ts";
import { createAppOperations, type AppOperations } from "./apps.ts";
import { createDeviceOperations, type DeviceOperations } from "./devices.ts";
import { createSnapOperations, type SnapOperations } from "./snaps.ts";
import type { Arguments, Listing, Toolbox } from "./toolbox.ts";

export type * from "./alerts.ts";
export type * from "./api-keys.ts";
export type * from "./apps.ts";
export type * from "./devices.ts";
export type * from "./snaps.ts";
export type * from "./toolbox.ts";

export interface Operations
  extends DeviceOperations, AppOperations, SnapOperations, AlertOperations, ApiKeyOperations {}

/** Sends a document with its variables, and returns the data of the answer. */
export type Ask = (text: string, variables: Record<string, unknown>) => Promise<unknown>;

interface PageOf<T> {
  readonly nodes: readonly T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const declare = (args: Arguments): string =>
  Object.entries(args)
    .map(([name, type]) => `$${name}: ${type}`)
    .join(", ");
const pass = (args: Arguments): string =>
  Object.keys(args)
    .map((name) => `${name}: $${name}`)
    .join(", ");

/** @param change sends a mutation, and throws if the result's status is FAILED */
export function createOperations(query: Ask, change: Ask): Operations {
  const read =
    <T>(field: string, args: Arguments, selection: string) =>
    async (values: object): Promise<T> => {
      const [declared, passed] = Object.keys(args).length === 0 ? ["", ""] : [`(${declare(args)})`, `(${pass(args)})`];
      const text = `query ${declared} { team { ${field}${passed} ${selection} } }`;
      const { team } = (await query(text, { ...values })) as { team: Record<string, unknown> };
      return team[field] as T;
    };

  async function* each<T>({ field, of, selection, rows, args = {}, values = {} }: Listing) {
    const own = { first: "Int!", after: "String", ...args };
    const page = `${field}(${pass(own)}) { nodes { ${selection} } pageInfo { hasNextPage endCursor } }`;
    const inner = of === undefined ? page : `${of.field}(${pass(of.args)}) { ${page} }`;
    const text = `query (${declare({ ...own, ...of?.args })}) { team { ${inner} } }`;
    for (let after: string | null = null; ;) {
      const { team } = (await query(text, { first: rows, after, ...values })) as { team: Record<string, unknown> };
      const parent = of === undefined ? team : (team[of.field] as Record<string, unknown> | null);
      // Return no rows if the team has no such parent, for instance no group with the given id.
      if (parent === null) return;
      const { nodes, pageInfo } = parent[field] as PageOf<T>;
      yield* nodes;
      if (!pageInfo.hasNextPage) return;
      after = pageInfo.endCursor;
    }
  }

  async function all<T>(listing: Listing): Promise<T[]> {
    const rows: T[] = [];
    for await (const row of each<T>(listing)) rows.push(row);
    return rows;
  }

  const mutation = <T>(field: string, args: Arguments, selection: string) => {
    const result = `{ status failedMessage ${selection} }`;
    const text = `mutation (${declare(args)}) { team { ${field}(${pass(args)}) ${result} } }`;
    return async (values: object): Promise<T> => {
      const { team } = (await change(text, { ...values })) as { team: Record<string, unknown> };
      return team[field] as T;
    };
  };

  const tools: Toolbox = { read, each, all, mutation };
  return {
    ...createDeviceOperations(tools),
    ...createAppOperations(tools),
    ...createSnapOperations(tools),
    ...createAlertOperations(tools),
    ...createApiKeyOperations(tools),
  };
}
