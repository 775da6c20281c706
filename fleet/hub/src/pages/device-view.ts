/**
 * The view of the list of devices, which the page's address contains: search, filters, order, page, and the row with an
 * open form. So Back, reload and a shared link show the same view.
 */
import type { DeviceFilter, DeviceOrder, OrderField } from "../nouns/device-query.ts";
import { queryText } from "./guards.tsx";

export const MAX_SEARCH = 100;

/** View of the list, as the query of the address encodes it. An unused filter is an empty text. */
export interface View {
  readonly search: string;
  readonly status: string;
  readonly group: string;
  readonly tag: string;
  readonly app: string;
  /** Smallest time without contact: "hour", "day" or "week". */
  readonly silent: string;
  /** A key of `ONLY`. */
  readonly only: string;
  /** "name" or "contact", with a leading "-" for the reverse order. Empty for the order in which devices were added. */
  readonly sort: string;
  readonly page: number;
  /** Id of the device whose form for renaming is open. */
  readonly rename?: string | undefined;
  /** Id of the device that the user is about to remove: the page asks for confirmation. */
  readonly remove?: string | undefined;
}

export const SILENT: Readonly<Record<string, readonly [number, string]>> = {
  hour: [3_600_000, "more than an hour"],
  day: [86_400_000, "more than a day"],
  week: [7 * 86_400_000, "more than a week"],
};
export const SORTS: Readonly<Record<string, readonly [OrderField, string]>> = {
  "": ["id", "as added"],
  name: ["name", "name"],
  "-name": ["name", "name, backwards"],
  "-contact": ["lastContactAt", "last contact, newest first"],
  contact: ["lastContactAt", "last contact, oldest first"],
};
export const ONLY: Readonly<Record<string, string>> = {
  conflict: "credential in use twice",
  failed: "application failed",
  enrolled: "enrolled, not revoked",
  new: "never enrolled",
  revoked: "revoked",
  paused: "paused",
};
const STATUS: readonly string[] = ["online", "offline"];

export const emptyView: View = {
  ...{ search: "", status: "", group: "", tag: "", app: "", silent: "", only: "", sort: "" },
  page: 1,
};

export function readView(search: string): View {
  const query = new URLSearchParams(search);
  const text = (name: string): string => (query.get(name) ?? "").trim().slice(0, MAX_SEARCH);
  const known = (name: string, values: object): string => (Object.hasOwn(values, text(name)) ? text(name) : "");
  const page = Number(query.get("page") ?? 1);
  return {
    search: text("q"),
    status: STATUS.includes(text("status")) ? text("status") : "",
    group: text("group"),
    tag: text("tag"),
    app: text("app"),
    silent: known("silent", SILENT),
    only: known("only", ONLY),
    sort: known("sort", SORTS),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    rename: query.get("rename") ?? undefined,
    remove: query.get("remove") ?? undefined,
  };
}

/** Returns the query of a view. Leaves out defaults. */
export function queryOf(view: View): string {
  const { search, page, rename, remove, ...rest } = view;
  return queryText({ q: search, ...rest, page: page > 1 ? page : undefined, rename, remove });
}

/** Returns the view with all forms closed. */
export const closed = (view: View): View => ({ ...view, rename: undefined, remove: undefined });

export const isFiltered = ({ search, status, group, tag, app, silent, only }: View): boolean =>
  [search, status, group, tag, app, silent, only].some((value) => value !== "");

export function filterOf(view: View, now: number): DeviceFilter {
  const given = (text: string): string | undefined => (text === "" ? undefined : text);
  const silent = SILENT[view.silent];
  return {
    search: given(view.search),
    status: view.status === "" ? undefined : view.status === "online" ? "ONLINE" : "OFFLINE",
    groupId: given(view.group),
    tag: given(view.tag),
    application: given(view.app),
    contactBefore: silent === undefined ? undefined : now - silent[0],
    only: given(view.only) as DeviceFilter["only"],
  };
}

export function orderOf({ sort }: View): DeviceOrder {
  return { field: SORTS[sort]![0], descending: sort.startsWith("-") };
}
