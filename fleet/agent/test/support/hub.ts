/** A small hub for one device. It hands out an application, and is away, cuts, lies or revokes as a test asks. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  ConfigReport,
  DesiredConfig,
  DeviceLog,
  EnrolRequest,
  Heartbeat,
  SnapRequest,
} from "boxwright-service/schema/protocol";
import { isReturnSigned } from "boxwright-service/device-return";
import type { DesiredShadow } from "boxwright-service/schema/shadow";
import type { SignedRelease } from "boxwright-service/release";
import { FakeServer } from "./server.ts";

export const ADOPT_KEY = "bwa_test-key-0123456789";
export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export interface TestApplication {
  readonly etag: string;
  readonly model: Uint8Array | null;
  readonly config?: object | null;
  readonly snaps?: DesiredConfig["snaps"];
}

export class FakeHub extends FakeServer {
  readonly enrolments: EnrolRequest[] = [];
  readonly beats: Heartbeat[] = [];
  readonly reports: ConfigReport[] = [];
  /** Ranges of the requests for models; "" for the whole. */
  readonly ranges: string[] = [];
  readonly logs: DeviceLog[] = [];
  readonly snaps = new Map<string, SnapRequest>();
  /** Files of snaps by their hash. */
  readonly files = new Map<string, Buffer>();
  /** Credentials that are good. */
  readonly credentials = new Set<string>();
  /** Credentials that came, in their order, each once. */
  readonly seen = new Set<string>();
  interval = 30;
  /** Milliseconds that its clock is ahead. */
  clockAhead = 0;
  /** True: it takes back a device that signs. */
  takesBack = false;
  wantsRotation = false;
  wantsSnap = false;
  wantsLog = false;
  isPaused = false;
  /** The release of the agent that the device should run, and its archive. */
  agent: { readonly etag: string; readonly signed: SignedRelease; readonly archive: Buffer } | null = null;
  /** Answers in place of the hub; null: the hub answers. */
  answer: (request: IncomingMessage) => { status: number; body?: object; headers?: Record<string, string> } | null =
    () => null;
  /** Changes what is sent of a model. */
  sendModel: (response: ServerResponse, bytes: Buffer) => void = (response, bytes) => void response.end(bytes);
  /** Version that the device should decode in shadow. */
  shadow: DesiredShadow | null = null;
  /** Model of the version in shadow, if it has one of its own. */
  shadowModel: Buffer | null = null;
  tokens = 0;
  #application: TestApplication | null = null;
  #wake: (() => void)[] = [];

  /** Gives the device an application, or takes it away. */
  give(application: TestApplication | null): void {
    this.#application = application;
    for (const wake of this.#wake.splice(0)) wake();
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const send = (status: number, json?: object, headers: Record<string, string> = {}): void => {
      response.writeHead(status, headers).end(json && JSON.stringify(json));
    };
    const answer = this.answer(request);
    if (answer) return send(answer.status, answer.body, answer.headers);
    const place = `${request.method} ${request.url}`;
    const json = (): never => JSON.parse(body.toString()) as never;
    if (place === "POST /device/enrol") return send(...this.#enrol(json()));
    if (place === "POST /device/return") return this.#takeBack(json(), send);
    const credential = (request.headers.authorization ?? "").replace("Bearer ", "");
    if (!this.credentials.has(credential)) return send(401, { errors: [{ message: "no such credential" }] });
    this.seen.add(credential);
    if (place === "POST /device/heartbeat") {
      this.beats.push(json());
      const log_requested = this.wantsLog;
      this.wantsLog = false;
      const flags = {
        log_requested,
        rotate: this.wantsRotation,
        snap_requested: this.wantsSnap,
        paused: this.isPaused,
      };
      this.wantsSnap = this.wantsRotation = false;
      const desired_version = this.#application?.etag ?? null;
      const time = new Date(Date.now() + this.clockAhead).toISOString();
      const desired_agent = this.agent?.etag ?? null;
      const shadow = this.shadow && `${this.shadow.rollout}.${this.shadow.every}`;
      return send(200, { time, interval_seconds: this.interval, desired_version, desired_agent, shadow, ...flags });
    }
    if (place === "POST /device/rotate") {
      const next = `bwd_credential-${this.credentials.size}-0123456789`;
      this.credentials.add(next);
      return send(200, { credential: next });
    }
    if (place === "POST /device/token")
      return send(200, {
        token: `token.of-the-device.${this.tokens++}`,
        expires_at: new Date(Date.now() + 6e8).toISOString(),
      });
    if (place === "POST /device/log") return void (this.logs.push(json()), send(204));
    if (place === "POST /device/report") return void (this.reports.push(json()), send(204));
    if (place === "GET /device/config") return this.#config(request, send);
    if (place === "GET /device/shadow") return this.shadow ? send(200, this.shadow) : send(204);
    if (place === "GET /device/agent")
      return this.agent ? send(200, { signed: this.agent.signed, etag: this.agent.etag }) : send(204);
    if (place.startsWith("GET /device/models/")) return this.#model(request, response);
    if (place === "POST /device/snaps") {
      const snap: SnapRequest = json();
      this.snaps.set(snap.id, snap);
      const missing = snap.files.map(({ sha256 }) => sha256).filter((hash) => !this.files.has(hash));
      return send(201, { snap_id: `hub-${snap.id}`, missing });
    }
    const [, hash] = /^PUT \/device\/snaps\/hub-[^/]+\/files\/(\w+)$/.exec(place) ?? [];
    if (hash === undefined) return send(404);
    if (hashOf(body) !== hash) return send(400, { errors: [{ message: "got another hash" }] });
    this.files.set(hash, body);
    send(204);
  }

  #enrol(request: EnrolRequest): [number, object] {
    this.enrolments.push(request);
    if (request.adopt_key !== ADOPT_KEY) return [403, { errors: [{ message: "the adopt key has run out" }] }];
    const credential = `bwd_credential-${this.credentials.size}-0123456789`;
    this.credentials.add(credential);
    return [201, { device_id: `d${this.enrolments.length}`, credential, name: request.name, team: "Team" }];
  }

  /** Takes the first device back if it signs. */
  #takeBack(
    { device_id, signature }: { device_id: string; signature?: string },
    send: (status: number, json?: object) => void,
  ): void {
    if (!this.takesBack) return send(403, { errors: [{ message: "not now" }] });
    const challenge = "c".repeat(43);
    if (signature === undefined) return send(200, { challenge });
    const key = this.enrolments[0]!.public_key!;
    if (device_id !== "d1" || !isReturnSigned(key, device_id, challenge, signature))
      return send(403, { errors: [{ message: "not signed" }] });
    const credential = `bwd_returned-${this.credentials.size}-0123456789`;
    this.credentials.add(credential);
    send(200, { credential });
  }

  async #config(
    request: IncomingMessage,
    send: (status: number, json?: object, headers?: Record<string, string>) => void,
  ): Promise<void> {
    const known = (): boolean =>
      (request.headers["if-none-match"] ?? "") === (this.#application ? `"${this.#application.etag}"` : "");
    if (known())
      await Promise.race([
        new Promise<void>((resolve) => this.#wake.push(resolve)),
        new Promise((resolve) => request.once("close", resolve)),
      ]);
    if (!this.#application) return send(204);
    if (known()) return send(304);
    const { etag, model, config = null, snaps = [] } = this.#application;
    const file = model && { sha256: hashOf(model), size: model.length, name: "network.onnx" };
    const application = { identifier: "doors", name: "Doors", version: 1, hash: "0123456789abcdef" };
    send(200, { application, config, options: {}, model: file, snaps }, { etag: `"${etag}"` });
  }

  #model(request: IncomingMessage, response: ServerResponse): void {
    const isArchive = this.agent !== null && request.url?.endsWith(hashOf(this.agent.archive)) === true;
    const isShadow = this.shadowModel !== null && request.url!.endsWith(hashOf(this.shadowModel));
    const model = isArchive ? this.agent!.archive : isShadow ? this.shadowModel : this.#application!.model;
    const { range = "" } = request.headers;
    this.ranges.push(range);
    const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, { "content-length": String(model!.length - from) });
    this.sendModel(response, Buffer.from(model!.subarray(from)));
  }
}
