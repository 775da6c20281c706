/** Arguments of the handlers of `/device/*`. */
import type { Recent } from "../core/recent.ts";
import type { WorkLimit } from "../core/work-limit.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import type { Params } from "boxwright-service/http/router";
import type { Services } from "../http/services.ts";
import type { KnownDevice } from "../nouns/credential.ts";
import type { SnapQuota } from "../nouns/snap-quota.ts";
import type { Heartbeats } from "../nouns/status.ts";

/** Services of the routes of agents. */
export interface Agents extends Services {
  readonly heartbeats: Heartbeats;
  readonly snapQuota: SnapQuota;
  /** Bodies of configs, cached briefly. Undefined stands for the body of a version that does not exist. */
  readonly configs: Recent<string | undefined>;
  /** Limits how many waiting requests are answered at a time, since one change may wake all waiting requests. */
  readonly answers: WorkLimit;
}

/** A request of an authenticated device. */
export interface DeviceVisit {
  readonly exchange: Exchange;
  readonly device: KnownDevice;
  readonly params: Params;
}

export type DeviceHandler = (agents: Agents, visit: DeviceVisit) => Promise<void> | void;
/** Handlers of one path, by method. */
export type Methods = Readonly<Partial<Record<"GET" | "POST" | "PUT", DeviceHandler>>>;
