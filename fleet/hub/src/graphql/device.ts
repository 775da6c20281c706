/**
 * Resolvers of devices. A list is whole or in pages, filtered and ordered, with a limit on the values of one answer.
 */
import type { Heartbeat, Problem } from "boxwright-service/schema/protocol";
import { listDevices, removeDevice, renameDevice, type Device } from "../nouns/device.ts";
import { revokeDevice } from "../nouns/credential.ts";
import { findDevice, needDevice, queryDevices, type OrderField } from "../nouns/device-query.ts";
import { hoursOf, statusChangedAt, statusOf, type DeviceState, type Status } from "../nouns/status.ts";
import { agentVersionOf } from "../nouns/application.ts";
import { reportsOf } from "../nouns/report.ts";
import { listDeviceTags, setDeviceTags } from "../nouns/device-tag.ts";
import { countAway, openReturns, returnsUntil } from "../nouns/device-return.ts";
import { setPaused } from "../nouns/pause.ts";
import { isDeviceId } from "../nouns/text.ts";
import type { TeamContext } from "./context.ts";
import { isoOrNull } from "./times.ts";
import { readFilter, type Connection, type DeviceReader, type DevicesArguments } from "./device-arguments.ts";
import { queryError } from "./errors.ts";
import { toGroup } from "./group-node.ts";
import { isNoText } from "./mutation.ts";
import { cursorOf, readPosition } from "./ordered.ts";

const HOURS = 24;
const MAX_HOURS = 720;
const HOUR_MS = 3_600_000;

/** A device in an answer. Loads status, tags and groups only if the query asks for them. */
export class DeviceNode {
  readonly id: string;
  readonly name: string;

  constructor({ id, name }: Device) {
    this.id = id;
    this.name = name;
  }

  kind(): string {
    return "SELF_HOSTED";
  }
  async tags(_: unknown, { tags, values }: TeamContext): Promise<string[]> {
    const found = (await tags.load(this.id)) ?? [];
    values.count(found.length);
    return found;
  }
  capabilities(): string[] {
    return [];
  }
  async availableUpgrade(_: unknown, { states, desired, db, team }: TeamContext): Promise<object | null> {
    const wanted = await desired.agent(team.id, this.id);
    const version = wanted && (await agentVersionOf(db, team.id, wanted.appId, wanted.number));
    if (wanted === undefined || version === undefined) return null;
    const running = (await states.load(this.id))?.version;
    return running === version ? null : { id: wanted.etag, version: String(wanted.number), semver: version };
  }
  async agentUpdate(_: unknown, { db, team }: TeamContext): Promise<object | null> {
    const [report] = await reportsOf(db, team.id, this.id, 1, "agent");
    const version = report && (await agentVersionOf(db, team.id, report.app_id, report.version));
    if (report === undefined || version === undefined) return null;
    const { state, code, message, at } = report;
    return {
      version,
      state: state.toUpperCase(),
      error: state === "failed" ? { code, message } : null,
      at: isoOrNull(at),
    };
  }
  async status(_: unknown, { states, now }: TeamContext): Promise<Status> {
    const state = await states.load(this.id);
    return state === undefined ? "OFFLINE" : statusOf(state, now());
  }
  async lastStatusChangeAt(_: unknown, { states, now }: TeamContext): Promise<string | null> {
    const state = await states.load(this.id);
    return state === undefined ? null : isoOrNull(statusChangedAt(state, now()));
  }
  async isPaused(_: unknown, { states }: TeamContext): Promise<boolean | null> {
    return reportOf(await states.load(this.id))?.paused ?? null;
  }
  async clockDifferenceSeconds(_: unknown, { states }: TeamContext): Promise<number | null> {
    const difference = (await states.load(this.id))?.clock_difference ?? null;
    return difference === null ? null : difference / 1000;
  }
  async networkInterfaces(_: unknown, { states }: TeamContext): Promise<object[]> {
    const all = reportOf(await states.load(this.id))?.network_interfaces ?? [];
    return all.map(({ name, ipv4, mac }) => ({ interfaceName: name, ipv4Address: ipv4, macAddress: mac }));
  }
  async application(_: unknown, { states }: TeamContext): Promise<object | null> {
    const state = await states.load(this.id);
    if (state === undefined || state.application_state === "none") return null;
    return {
      identifier: state.application,
      version: state.application_version,
      state: state.application_state.toUpperCase(),
      error: state.application_error === null ? null : (JSON.parse(state.application_error) as Problem),
    };
  }
  async desiredApplication(_: unknown, { desiredVersions }: TeamContext): Promise<object | null> {
    const wanted = await desiredVersions.load(this.id);
    return wanted === undefined ? null : { identifier: wanted.identifier, version: wanted.etag, number: wanted.number };
  }
  async health(_: unknown, { states }: TeamContext): Promise<object | null> {
    const beat = reportOf(await states.load(this.id));
    if (beat === undefined) return null;
    return {
      ...{ frames: beat.frames, dropped: beat.dropped, lost: beat.lost },
      ...{ decodeP50Ms: beat.decode_ms.p50, decodeP99Ms: beat.decode_ms.p99 },
      ...{ spoolBytes: beat.spool.bytes, spoolLimitBytes: beat.spool.limit, spoolFrames: beat.spool.frames },
      lastError: beat.last_error ?? null,
    };
  }
  async groups(_: unknown, { groups, values }: TeamContext): Promise<object[]> {
    const rows = (await groups.load(this.id)) ?? [];
    values.count(rows.length);
    return rows.map(toGroup);
  }
  async hours({ last }: { last?: number | null }, { db, team, now, states, values }: TeamContext): Promise<object[]> {
    const count = last ?? HOURS;
    if (count < 1 || count > MAX_HOURS)
      throw queryError("invalid_input", `last: got ${count}, expected 1 to ${MAX_HOURS}`);
    values.count(count);
    const state = await states.load(this.id);
    const rows = await hoursOf(db, team.id, this.id, now(), count);
    const present = Math.floor(now() / HOUR_MS);
    const current = state?.hour == null || state.hour <= present - count ? [] : [{ ...state, hour: state.hour }];
    return [...rows, ...current].map(({ hour, contacts, restarts, worst_p99, drops }) => ({
      ...{ startsAt: isoOrNull(hour * HOUR_MS), contacts, restarts, slowestDecodeMs: worst_p99, dropped: drops },
    }));
  }
}

type Resolver = (_: unknown, context: TeamContext) => Promise<unknown>;

/** Returns the resolver of a column of the device's state. */
const stateOf = (column: keyof DeviceState, show: (value: never) => unknown = (value) => value): Resolver =>
  async function (this: DeviceNode, _, { states }) {
    return show(((await states.load(this.id))?.[column] ?? null) as never);
  };

// Define these fields on the prototype: an answer may hold 20,000 devices.
Object.assign(DeviceNode.prototype, {
  ...{ model: stateOf("model"), serialNumber: stateOf("serial_number"), architecture: stateOf("architecture") },
  ...{ version: stateOf("version"), hostUrl: stateOf("host_url"), pausedAt: stateOf("paused_at", isoOrNull) },
  ...{ lastContactAt: stateOf("last_contact_at", isoOrNull), enrolledAt: stateOf("enrolled_at", isoOrNull) },
  ...{ conflictAt: stateOf("conflict_at", isoOrNull), revokedAt: stateOf("revoked_at", isoOrNull) },
});

const reportOf = (state: DeviceState | undefined): Heartbeat | undefined =>
  state?.report == null ? undefined : (JSON.parse(state.report) as Heartbeat);

const FIELDS: Readonly<Record<string, OrderField>> = { ID: "id", NAME: "name", LAST_CONTACT_AT: "lastContactAt" };

/** Reads the pages of devices that one request asks for. */
export class DevicePages implements DeviceReader {
  readonly #context: Pick<TeamContext, "db" | "team" | "now" | "values">;
  /** Pages read so far, by their arguments. Several aliases for the same page share one query. */
  readonly #pages = new Map<string, Connection>();
  /** Settles when every page that was requested so far is read and counted. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: Pick<TeamContext, "db" | "team" | "now" | "values">) {
    this.#context = context;
  }

  /** Reads one page after another, so that reading stops at the first page that makes the answer too large. */
  read(args: DevicesArguments): Promise<Connection> {
    const page = this.#turn.then(() => this.#readCounted(args));
    this.#turn = page.catch(() => undefined);
    return page;
  }

  async #readCounted(args: DevicesArguments): Promise<Connection> {
    const { values } = this.#context;
    values.check();
    const { first, after, filter, orderBy } = args;
    const name = JSON.stringify([first, after, filter, orderBy]);
    let page = this.#pages.get(name);
    if (page === undefined) this.#pages.set(name, (page = await this.#readPage(args)));
    values.count(page.nodes.length);
    return page;
  }

  async #readPage({ first, after, filter, orderBy }: DevicesArguments): Promise<Connection> {
    const { db, team, now } = this.#context;
    if (first != null && first < 1) throw queryError("invalid_input", `first: got ${first}, expected at least 1`);
    // Read one row more than requested: if this row exists, there is a next page.
    const limit = first == null ? undefined : first + 1;
    if (filter == null && orderBy == null) {
      const start = after == null ? "" : decodeId(after);
      const rows = await listDevices(db, team.id, start, limit);
      return connectionOf(rows, limit, ({ id }) => id);
    }
    const order = { field: FIELDS[orderBy?.field ?? "ID"]!, descending: orderBy?.direction === "DESC" };
    const slice = { order, limit: limit ?? MAX_ROWS, after: after == null ? undefined : readPosition(decode(after)) };
    const rows = await queryDevices(db, team.id, readFilter(filter ?? {}), now(), slice);
    return connectionOf(rows, limit, ({ sort, id }) => cursorOf({ value: sort, id }));
  }
}

/** Limit of a query without `first`, above the number of devices that a team may have. */
const MAX_ROWS = 100_000;

function connectionOf<T extends Device>(
  rows: readonly T[],
  limit: number | undefined,
  positionOf: (row: T) => string,
): Connection {
  const hasNextPage = limit !== undefined && rows.length >= limit;
  const shown = hasNextPage ? rows.slice(0, limit - 1) : rows;
  const nodes = shown.map((row) => new DeviceNode(row));
  const last = shown.at(-1);
  return {
    nodes,
    edges: () => nodes.map((node, i) => ({ node, cursor: encode(positionOf(shown[i]!)) })),
    pageInfo: { hasNextPage, endCursor: last === undefined ? null : encode(positionOf(last)) },
  };
}

const encode = (text: string): string => Buffer.from(text).toString("base64url");
const decode = (cursor: string): string => Buffer.from(cursor, "base64url").toString();

function decodeId(cursor: string): string {
  const id = decode(cursor);
  if (isDeviceId(id) && encode(id) === cursor) return id;
  throw queryError(
    "invalid_input",
    `after: got ${JSON.stringify(cursor.slice(0, 80))}, expected an endCursor of an earlier answer`,
  );
}

/** Fields of `team` in a query. */
export const deviceQueries = (context: TeamContext) => ({
  deviceTags: () => listDeviceTags(context.db, context.team.id),
  returningDevicesUntil: async () => isoOrNull(await returnsUntil(context.db, context.now(), context.team.id)),
  awayDeviceCount: () => countAway(context.db, context.team.id),
  devices: (args: DevicesArguments) => context.devices.read(args),
  device: async ({ deviceId }: { deviceId: string }) => {
    const found = isNoText(deviceId) ? undefined : await findDevice(context.db, context.team.id, deviceId);
    return found === undefined ? null : new DeviceNode(found);
  },
});

/** Fields of `team` in a mutation. */
export const deviceMutations = ({ db, change, team }: TeamContext) => ({
  renameDevice: async ({ deviceId, name }: { deviceId: string; name: string }) => {
    const kept = await renameDevice(db, change(), deviceId, name);
    return { device: new DeviceNode({ id: deviceId, name: kept }) };
  },
  deleteDevice: async ({ deviceId }: { deviceId: string }) => ({
    device: new DeviceNode(await removeDevice(db, change(), deviceId)),
  }),
  setDeviceTags: async ({ deviceId, tags }: { deviceId: string; tags: readonly string[] }) => ({
    device: new DeviceNode(await setDeviceTags(db, change(), deviceId, tags)),
  }),
  letDevicesReturn: async ({ hours }: { hours: number }) => ({
    until: isoOrNull(await openReturns(db, change(), hours)),
  }),
  pauseDevice: async ({ deviceId }: { deviceId: string }) => ({
    device: new DeviceNode(await setPaused(db, change(), deviceId, true)),
  }),
  resumeDevice: async ({ deviceId }: { deviceId: string }) => ({
    device: new DeviceNode(await setPaused(db, change(), deviceId, false)),
  }),
  revokeDeviceCredential: async ({ deviceId }: { deviceId: string }) => {
    const device = await needDevice(db, team.id, deviceId);
    await revokeDevice(db, change(), device);
    return { device: new DeviceNode(device) };
  },
});
