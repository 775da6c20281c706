/** Routes of agents: packets, configs and previews. */
import { deviceSource } from "boxwright-service/schema/protocol";
import { noRoom, readBytes } from "boxwright-service/http/body";
import type { Exchange } from "boxwright-service/http/exchange";
import type { Handler, Router } from "boxwright-service/http/router";
import { NoRoomError, Room, type Visit } from "boxwright-service/room";
import { isSourceOf } from "../access/device-tokens.ts";
import { Refusal } from "../core/errors.ts";
import { decodeHeader } from "../core/headers.ts";
import { type Metrics, addGauge } from "../core/metrics.ts";
import type { Registry } from "../decode/registry.ts";
import { type Intake, type CheckSource, refusalOf } from "../intake/intake.ts";
import { type Previews, readAttributes } from "../live/previews.ts";
import type { DeviceNames } from "../store/names.ts";
import type { RefusedRequests } from "../store/refused-requests.ts";
import type { Guards } from "./guards.ts";

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
  /** Room for request bodies, in units of `maxPacketBytes`. */
  readonly maxRequests: number;
  /** Smallest allowed pace of a body in bytes per second; 0 allows any. */
  readonly minBodyRate: number;
  /** Largest number of seconds that a body may take. */
  readonly maxBodySeconds: number;
}

const MOST_CONFIG_BYTES = 2 ** 20;
/** Milliseconds over which the pace of a body is measured. */
const PACE_WINDOW_MS = 5000;
/** Milliseconds after which a body counts as slow. All slow bodies together get half of the room. */
const SLOW_AFTER_MS = 1000;
/** Largest number of simultaneous bodies of one device. An agent sends several for each camera. */
export const BODIES_OF_DEVICE = 64;

export function addDeviceRoutes(router: Router, routes: DeviceRoutes): void {
  const { intake, registry, previews, names, guards, maxPacketBytes, maxPreviewBytes, maxRequests } = routes;
  const pace = { rate: routes.minBodyRate, window: PACE_WINDOW_MS, most: routes.maxBodySeconds * 1000 };
  const size = maxRequests * maxPacketBytes;
  const room = new Room({ size, ofSender: BODIES_OF_DEVICE, slowAfter: SLOW_AFTER_MS });
  addGauge(routes.metrics, "body_bytes", "Bytes of the room for bodies that are taken", () => room.taken);

  /** Returns a handler that reads the body and passes it to `work`. The body occupies its room until `work` is done. */
  function withBody(most: number, isRecorded: boolean, work: Work): Handler {
    return async (exchange, params) => {
      let bytes: number | undefined;
      try {
        const visit = (exchange.visit = enter(room, exchange.sender.device));
        try {
          const body = await readBytes(exchange, { most, pace, visit });
          bytes = body.length;
          await work(exchange, body, params["hash"] ?? "");
        } finally {
          visit.leave();
        }
      } catch (error) {
        if (isRecorded) await recordRefusal(routes.refused, exchange, bytes, error);
        throw error;
      }
    };
  }

  const takePacket: Work = async (exchange, body) => {
    const { isDuplicate, source } = await intake.receive(body, "http", false, {
      ...{ checkSource: checkSourceOf(exchange), traceparent: exchange.header("traceparent") },
    });
    const name = exchange.sender.deviceName;
    if (name !== undefined) await names.note(source, name);
    exchange.sendNothing(isDuplicate ? { "x-boxwright-duplicate": "1" } : {});
  };
  const takeConfig: Work = async (exchange, body, hash) => {
    await registry.put(hash, Buffer.from(body).toString("utf8"));
    exchange.sendNothing();
  };
  const takePreview: Work = (exchange, body) => {
    const about = readAttributes((name) => exchange.header(name.toLowerCase()));
    checkSourceOf(exchange)?.(about.source);
    previews.take(about, body);
    exchange.sendNothing();
  };
  router.post("/v1/packets", guards.agents(withBody(maxPacketBytes, true, takePacket)));
  router.put("/v1/configs/:hash", guards.agents(withBody(MOST_CONFIG_BYTES, true, takeConfig)));
  router.post("/v1/previews", guards.agents(withBody(maxPreviewBytes, false, takePreview)));
}

type Work = (exchange: Exchange, body: Uint8Array, hash: string) => Promise<void> | void;

/**
 * Reserves room for a request body. `device` is undefined for a token that many devices share, since this token does
 * not identify the sender.
 */
function enter(room: Room, device: string | undefined): Visit {
  try {
    return room.enter(device);
  } catch (error) {
    throw error instanceof NoRoomError ? noRoom(error) : error;
  }
}

/** Adds a permanently refused request to the list of refused requests. Ignores others, which the sender repeats. */
async function recordRefusal(
  refused: RefusedRequests,
  exchange: Exchange,
  length: number | undefined,
  error: unknown,
): Promise<void> {
  const { isForGood, reason, message } = refusalOf(error);
  const { address, request, sender } = exchange;
  // Ignore a body that was cut off, since its sender repeats it.
  if (!isForGood || (reason === "cut off" && !request.complete)) return;
  const place = sender.device === undefined ? address : deviceSource(sender.device);
  const bytes = length ?? Number(exchange.header("content-length") ?? 0);
  const read = (name: string): string | null => decodeHeader(exchange.header(name) ?? "") || null;
  // Wait until the row is durable before answering. After the answer, the sender drops the packet, and only this row
  // records it.
  await refused.take({ place, bytes, source: read("ce-source"), id: read("ce-id"), reason, message });
}

/**
 * Returns the check that a packet's source belongs to the device of the token; undefined for a token that devices
 * share.
 */
function checkSourceOf({ sender: { device } }: Exchange): CheckSource | undefined {
  if (device === undefined) return undefined;
  return (source) => {
    if (!isSourceOf(device, source))
      throw new Refusal("source", `source: got "${source}", expected that of the token, device:${device}`);
  };
}
