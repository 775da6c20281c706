/** All methods of the client except `query`, and their common parts: reading pages and sending mutations. */
import { createAlertOperations, type AlertOperations } from "./alerts.ts";
import { createApiKeyOperations, type ApiKeyOperations } from "./api-keys.ts";
import { createAppOperations, type AppOperations } from "./apps.ts";
import { createDeviceOperations, type DeviceOperations } from "./devices.ts";
import { createSnapOperations, type SnapOperations } from "./snaps.ts";
import type { Listing, Toolbox } from "./toolbox.ts";

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

const NAMES = /(\w+):/g;
const namesIn = (args: string): string[] => Array.from(args.matchAll(NAMES), ([, name]) => name!);
/** Returns a list in brackets, or nothing if the list is empty: GraphQL has no empty brackets. */
const inBrackets = (text: string): string => (text === "" ? "" : `(${text})`);
const declare = (args: string): string => inBrackets(args.replace(NAMES, "$$$1:"));
const pass = (args: string): string => inBrackets(args.replace(/(\w+): [^,]*/g, "$1: $$$1"));
/** Returns values in the order of the arguments, by name. */
const byName = (args: string, values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(namesIn(args).map((name, i) => [name, values[i]]));

/** @param change sends a mutation, and throws if the result's status is FAILED */
export function createOperations(query: Ask, change: Ask): Operations {
  const read: Toolbox["read"] =
    <T>(field: string, args: string, selection: string) =>
    async (...values: readonly unknown[]): Promise<T> => {
      const text = `query ${declare(args)} { team { ${field}${pass(args)} ${selection} } }`;
      const { team } = (await query(text, byName(args, values))) as { team: Record<string, unknown> };
      return team[field] as T;
    };

  async function* each<T>({ field, of, selection, rows, args = "", values = {} }: Listing) {
    const own = ["first: Int!, after: String", args].filter((text) => text !== "").join(", ");
    const page = `${field}${pass(own)} { nodes { ${selection} } pageInfo { hasNextPage endCursor } }`;
    const inner = of === undefined ? page : `${of.field}${pass(of.args)} { ${page} }`;
    const text = `query ${declare(of === undefined ? own : `${own}, ${of.args}`)} { team { ${inner} } }`;
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

  const send: Toolbox["send"] = <T>(field: string, args: string, selection: string) => {
    const text = `mutation ${declare(args)} { team { ${field}${pass(args)} { status failedMessage ${selection} } } }`;
    return async (values: object): Promise<T> => {
      const { team } = (await change(text, { ...values })) as { team: Record<string, Record<string, unknown>> };
      const parts = Object.entries(team[field]!).filter(([name]) => name !== "status" && name !== "failedMessage");
      return Object.fromEntries(parts) as T;
    };
  };
  const changeBy: Toolbox["changeBy"] = <T>(field: string, args: string, selection: string) => {
    const sent = send<Record<string, T>>(field, args, selection);
    return async (...values: readonly object[]): Promise<T> =>
      (await sent(Object.assign({}, ...values) as object))[/^\w*/.exec(selection)![0]]!;
  };
  const tools: Toolbox = {
    ...{ read, each, all, send, changeBy },
    change: (field, args, selection) => {
      const sent = changeBy<never>(field, args, selection);
      return (...values) => sent(byName(args, values));
    },
  };
  return {
    ...createDeviceOperations(tools),
    ...createAppOperations(tools),
    ...createSnapOperations(tools),
    ...createAlertOperations(tools),
    ...createApiKeyOperations(tools),
  };
}
