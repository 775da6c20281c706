/** Reads the arguments of device lists. */
import type { Device } from "../nouns/device.ts";
import type { DeviceFilter } from "../nouns/device-query.ts";
import type { Status } from "../nouns/status.ts";
import type { PageArguments, PageInfo } from "./connection.ts";
import { queryError } from "./errors.ts";
import { given, isNoText } from "./mutation.ts";
import type { OrderArgument } from "./ordered.ts";

interface FilterArgument {
  readonly search?: string | null;
  readonly status?: Status | null;
  readonly deviceGroupId?: string | null;
  readonly tag?: string | null;
  readonly appIdentifier?: string | null;
  readonly model?: string | null;
  readonly lastContactBefore?: string | null;
  readonly lastContactAfter?: string | null;
  readonly only?: keyof typeof ONLY | null;
}

export interface DevicesArguments extends PageArguments {
  readonly filter?: FilterArgument | null;
  readonly orderBy?: OrderArgument | null;
}

/** Reads the pages of devices that one request asks for. */
export interface DeviceReader {
  read(args: DevicesArguments): Promise<Connection>;
}

export interface Connection {
  readonly nodes: readonly Device[];
  readonly edges: () => readonly { readonly node: Device; readonly cursor: string }[];
  readonly pageInfo: PageInfo;
}

const ONLY = {
  CONFLICT: "conflict",
  FAILED: "failed",
  NEVER_ENROLLED: "new",
  REVOKED: "revoked",
  PAUSED: "paused",
} as const;

export function readFilter(filter: FilterArgument): DeviceFilter {
  const texts = [filter.search, filter.deviceGroupId, filter.tag, filter.appIdentifier, filter.model];
  if (isNoText(...texts)) throw queryError("invalid_input", "filter: got a NUL, expected text");
  const search = given(filter.search);
  return {
    search: search === "" ? undefined : search,
    status: given(filter.status),
    groupId: given(filter.deviceGroupId),
    tag: given(filter.tag),
    application: given(filter.appIdentifier),
    model: given(filter.model),
    contactBefore: readTime(filter.lastContactBefore, "lastContactBefore"),
    contactAfter: readTime(filter.lastContactAfter, "lastContactAfter"),
    only: filter.only == null ? undefined : ONLY[filter.only],
  };
}

/** A time with its UTC offset. Without the offset, the time would depend on the hub's time zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

function readTime(text: string | null | undefined, name: string): number | undefined {
  if (text == null) return undefined;
  const time = ISO_TIME.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  const got = JSON.stringify(text.slice(0, 40));
  throw queryError("invalid_input", `${name}: got ${got}, expected a time like 2026-11-25T23:05:00Z, with its offset`);
}
