/** A device as the hub sees it: enrols, sends heartbeats, and asks with its credential. */
import { randomBytes } from "node:crypto";
import type { EnrolAnswer, Heartbeat } from "boxwright-service/schema/protocol";
import { createAdoptKey, type NewAdoptKey } from "../../src/nouns/adoptkey.ts";
import type { TestHub } from "./hub.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: any;
}

/** Sends JSON to a path of the hub. */
export async function send(hub: TestHub, path: string, init: RequestInit & { json?: unknown } = {}): Promise<Reply> {
  const { json, ...rest } = init;
  const response = await fetch(hub.url + path, {
    method: "POST",
    ...rest,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    headers: { "content-type": "application/json", ...(rest.headers as Record<string, string>) },
  });
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = text;
  }
  return { status: response.status, headers: response.headers, json: body };
}

/** Makes an adopt key past the pages. Returns it whole. */
export async function adoptKey(hub: TestHub, wanted: Partial<NewAdoptKey> = {}, teamId = hub.team.id): Promise<string> {
  const made = await createAdoptKey(
    hub.storage.db,
    { now: Date.now() + hub.clock.offset, actor: "test", teamId },
    randomBytes(16).toString("hex"),
    { name: "wall", days: 7, devices: 100, groupIds: [], ...wanted },
  );
  return made!.key;
}

export const ENROL = { name: "Gate 3", model: "Pi 5", architecture: "arm64", version: "1.0.0" };

export const enrol = (hub: TestHub, key: string, part: Record<string, unknown> = {}): Promise<Reply> =>
  send(hub, "/device/enrol", { json: { adopt_key: key, ...ENROL, ...part } });

export class Agent {
  readonly #hub: TestHub;
  readonly id: string;
  readonly name: string;
  credential: string;
  counter = 0;
  processId = randomBytes(8).toString("hex");

  constructor(hub: TestHub, { device_id, credential, name }: EnrolAnswer) {
    this.#hub = hub;
    this.id = device_id;
    this.credential = credential;
    this.name = name;
  }

  static async enrol(hub: TestHub, key?: string, part: Record<string, unknown> = {}): Promise<Agent> {
    const { status, json } = await enrol(hub, key ?? (await adoptKey(hub)), part);
    if (status !== 201) throw new Error(`got ${status} ${JSON.stringify(json)}, expected an enrolment`);
    return new Agent(hub, json as EnrolAnswer);
  }

  ask(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Reply> {
    const headers = { authorization: `Bearer ${this.credential}`, ...(init.headers as Record<string, string>) };
    return send(this.#hub, path, { ...init, headers });
  }

  beat(part: Partial<Heartbeat> = {}): Promise<Reply> {
    return this.ask("/device/heartbeat", { json: { ...this.heartbeat(), ...part } });
  }

  heartbeat(): Heartbeat {
    return {
      counter: ++this.counter,
      process_id: this.processId,
      version: "1.0.0",
      model: "Pi 5",
      architecture: "arm64",
      time: new Date(Date.now() + this.#hub.clock.offset).toISOString(),
      application: { identifier: null, version: null, state: "none" },
      frames: 100,
      dropped: 0,
      lost: 0,
      decode_ms: { p50: 2, p99: 9 },
      spool: { bytes: 0, limit: 1000, frames: 0 },
    };
  }
}
