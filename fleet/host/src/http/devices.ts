/** Routes of agents: packets, configs and previews. */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { deviceSource } from "boxwright-service/fleet-protocol";
import { isSourceOf } from "../access/device-tokens.ts";
import { Refusal } from "../core/errors.ts";
import { decodeHeader } from "../core/headers.ts";
import { type Metrics, addGauge } from "../core/metrics.ts";
import type { Registry } from "../decode/registry.ts";
import { type Intake, type CheckSource, refusalOf } from "../intake/intake.ts";
import { type Previews, readAttributes } from "../live/previews.ts";
import { addressOf } from "boxwright-service/caller";
import { NoRoomError, Room, type Visit } from "boxwright-service/room";
import type { DeviceNames } from "../store/names.ts";
import type { RefusedRequests } from "../store/refused-requests.ts";
import { noRoom, readBody } from "./body.ts";
import type { Env, Guards } from "./guards.ts";

export interface DeviceRoutes {
  readonly intake: Intake;
  readonly registry: Registry;
  readonly previews: Previews;
  readonly refused: RefusedRequests;
  readonly names: DeviceNames;
  readonly guards: Guards;
  readonly metrics: Metrics;
  readonly maxPacketBytes: number;
  readonly maxPreviewBytes: number;
  /** Room for bodies, in packets of `maxPacketBytes`. */
  readonly maxRequests: number;
  /** Least bytes a second of a body; 0: any. */
  readonly minBodyRate: number;
  /** Most seconds of a body. */
  readonly maxBodySeconds: number;
  readonly proxyHops: number;
}

const MOST_CONFIG_BYTES = 2 ** 20;
/** Milliseconds over which the pace of a body is measured. */
const PACE_WINDOW_MS = 5000;
/** A body that takes longer is slow: it shares half of the room with the other slow ones. */
const SLOW_AFTER_MS = 1000;
/** Most bodies of one device at once. An agent sends some for each of its cameras. */
const BODIES_OF_DEVICE = 64;

export function addDeviceRoutes(app: Hono<Env>, routes: DeviceRoutes): void {
  const { intake, registry, previews, names, guards, maxPacketBytes, maxPreviewBytes, maxRequests } = routes;
  const pace = { rate: routes.minBodyRate, window: PACE_WINDOW_MS, most: routes.maxBodySeconds * 1000 };
  const size = maxRequests * maxPacketBytes;
  const room = new Room({ size, ofSender: BODIES_OF_DEVICE, slowAfter: SLOW_AFTER_MS });
  addGauge(routes.metrics, "body_bytes", "Bytes of the room for bodies that are taken", () => room.taken);

  /** Reads the body and passes it to `work`. The room is taken until `work` is done. */
  async function withBody<T>(c: Context<Env>, most: number, work: (body: Uint8Array) => Promise<T>): Promise<T> {
    const visit = enter(room, c.get("device"));
    try {
      const body = await readBody(c.env.incoming, c.env.outgoing, most, { pace, visit });
      c.set("bodyLength", body.length);
      return await work(body);
    } finally {
      visit.leave();
    }
  }

  const record = recordRefusals(routes);
  app.post("/v1/packets", guards.agents, record, (c) =>
    withBody(c, maxPacketBytes, async (body) => {
      const { isDuplicate, source } = await intake.receive(body, "http", false, checkSourceOf(c));
      const name = c.get("deviceName");
      if (name !== undefined) await names.note(source, name);
      if (isDuplicate) c.header("x-boxwright-duplicate", "1");
      return c.body(null, 204);
    }),
  );

  app.put("/v1/configs/:hash", guards.agents, record, (c) =>
    withBody(c, MOST_CONFIG_BYTES, async (body) => {
      await registry.put(c.req.param("hash"), Buffer.from(body).toString("utf8"));
      return c.body(null, 204);
    }),
  );

  app.post("/v1/previews", guards.agents, (c) =>
    withBody(c, maxPreviewBytes, (body) => {
      const about = readAttributes((name) => c.req.header(name));
      checkSourceOf(c)?.(about.source);
      previews.take(about, body);
      return Promise.resolve(c.body(null, 204));
    }),
  );
}

/** Lets a device in by its id. A token that many devices share says nothing about who sends. */
function enter(room: Room, device: string | undefined): Visit {
  try {
    return room.enter(device);
  } catch (error) {
    throw error instanceof NoRoomError ? noRoom(error) : error;
  }
}

/** Returns a middleware that records what is refused for good. */
function recordRefusals({ refused, proxyHops }: DeviceRoutes): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    if (c.error === undefined) return;
    const { isForGood, reason, message } = refusalOf(c.error);
    // A sender that hung up in the middle sends again.
    if (!isForGood || (reason === "cut off" && !c.env.incoming.complete)) return;
    const device = c.get("device");
    const place = device === undefined ? addressOf(c.env.incoming, proxyHops) : deviceSource(device);
    const bytes = c.get("bodyLength") ?? Number(c.req.header("content-length") ?? 0);
    const read = (name: string): string | null => decodeHeader(c.req.header(name) ?? "") || null;
    // Answer once the row is durable: a sender that throws the packet away must find it in the list.
    await refused.take({ place, bytes, source: read("ce-source"), id: read("ce-id"), reason, message });
  };
}

/** Returns the check of sources for the device whose token came; undefined for a token that stands for all devices. */
function checkSourceOf(c: Context<Env>): CheckSource | undefined {
  const device = c.get("device");
  if (device === undefined) return undefined;
  return (source) => {
    if (!isSourceOf(device, source))
      throw new Refusal("source", `source: got "${source}", expected that of the token, device:${device}`);
  };
}
