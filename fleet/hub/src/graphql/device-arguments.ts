/** Reads the arguments of device lists. */
import type { Device } from "../nouns/device.ts";
import type { DeviceFilter } from "../nouns/device-query.ts";
import type { Status } from "../nouns/status.ts";
import type { PageArguments, PageInfo } from "./connection.ts";
import { queryError } from "./errors.ts";
import { given, isNoText } from "./mutation.ts";
import type { OrderArgument } from "./ordered.ts";
import { readTime } from "./times.ts";

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
