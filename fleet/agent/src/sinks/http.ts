/** The sink "http": sends packets, configs and previews to a host. */
import { packetHeaders } from "boxwright";
import { connectionProblem } from "boxwright-service/errors";
import { runWithin } from "boxwright-service/patience";
import { askedPause } from "boxwright-service/retry";
import type { HttpSettings } from "../settings/sinks.ts";
import {
  type Bearer,
  type FindConfig,
  type Headers,
  type Outcome,
  type Preview,
  type Sink,
  previewHeaders,
} from "./sink.ts";

/** Milliseconds until a request without an answer is aborted. */
const PATIENCE = 30_000;
/** Milliseconds until a preview without an answer is aborted. A later preview replaces this one anyway. */
const PREVIEW_PATIENCE = 5000;
/** Number of characters that are kept of an answer. */
const MOST_TEXT = 500;
/** Largest number of milliseconds that a receiver may ask to wait. */
const MOST_WAIT = 3_600_000;

/** The parts of a host's answer that this sink uses. */
interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly isDuplicate: boolean;
  readonly text: string;
}

export class HttpSink implements Sink {
  readonly name: string;
  readonly inFlight: number;
  readonly #settings: HttpSettings;
  readonly #findConfig: FindConfig;
  readonly #bearer: Bearer;
  readonly #patience: number;

  /** @param patience milliseconds until a request without an answer is aborted */
  constructor(settings: HttpSettings, findConfig: FindConfig, bearer: Bearer, patience = PATIENCE) {
    this.name = settings.name;
    this.inFlight = settings.inFlight;
    this.#settings = settings;
    this.#findConfig = findConfig;
    this.#bearer = bearer;
    this.#patience = patience;
  }

  async send(packet: Uint8Array, signal: AbortSignal, more?: Headers): Promise<Outcome> {
    try {
      const headers = { ...packetHeaders(packet), ...more };
      const answer = await this.#call("POST", "/v1/packets", headers, packet, signal);
      if (answer.status !== 409) return outcomeOf(answer);
      const refusal = await this.#sendConfig(hashIn(answer, headers), signal);
      return refusal ?? outcomeOf(await this.#call("POST", "/v1/packets", headers, packet, signal));
    } catch (error) {
      return { kind: "later", reason: connectionProblem(error) };
    }
  }

  async preview(preview: Preview): Promise<void> {
    const send = (signal: AbortSignal): Promise<Answer> =>
      this.#request("POST", "/v1/previews", previewHeaders(preview), preview.jpeg, signal);
    const answer = await runWithin(PREVIEW_PATIENCE, new AbortController().signal, send);
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Sends a config that the host asked for. Returns null if the host accepted the config, and otherwise the outcome for
   * the packet.
   */
  async #sendConfig(hash: string | null, signal: AbortSignal): Promise<Outcome | null> {
    const record = hash === null ? null : this.#findConfig(hash);
    if (!record)
      return { kind: "refused", reason: `the host does not know config ${hash}, and this agent has it no more` };
    const headers = { "content-type": "application/json" };
    const answer = await this.#call("PUT", `/v1/configs/${record.hash}`, headers, record.json, signal);
    if (answer.status < 300) return null;
    // Refuse the packet too: a host that refuses the config can never decode the packet.
    if (answer.status === 400 || answer.status === 413)
      return { kind: "refused", reason: `config ${record.hash}: ${answer.status} ${answer.text}` };
    return outcomeOf(answer);
  }

  #call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array | string,
    signal: AbortSignal,
  ): Promise<Answer> {
    // Apply the timeout to the body of the answer too.
    return runWithin(this.#patience, signal, (both) => this.#request(method, path, headers, body, both));
  }

  async #request(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array | string,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { url } = this.#settings;
    const token = this.#bearer.token();
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: body as string | Uint8Array<ArrayBuffer>,
      // Follow no redirect, so that packets go only to the address in the settings.
      redirect: "error",
      signal,
    });
    if (response.status === 401) this.#bearer.denied();
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      isDuplicate: response.headers.get("x-boxwright-duplicate") === "1",
      text: (await response.text()).slice(0, MOST_TEXT),
    };
  }
}

function outcomeOf({ status, retryAfter, isDuplicate, text }: Answer): Outcome {
  if (status >= 200 && status < 300) return { kind: "stored", isDuplicate };
  const reason = `${status} ${text}`.trim();
  // The source of the packet is not that of the token: the packet was made before this device was enrolled.
  const isForeign = status === 403 && /"reason":"source"/.test(text);
  if (status === 400 || status === 413 || isForeign) return { kind: "refused", reason };
  const asked = askedPause(retryAfter);
  // Keep the packet after a wrong token or path: an operator can correct these settings.
  return { kind: "later", reason, ...(asked !== null && { milliseconds: Math.min(asked, MOST_WAIT) }) };
}

/** Returns the hash of the config that the host asks for, from the answer or else from the packet. */
function hashIn({ text }: Answer, headers: Readonly<Record<string, string>>): string | null {
  try {
    const { config } = JSON.parse(text) as { config?: unknown };
    if (typeof config === "string") return config;
  } catch {
    // Ignore the error, since the answer is not JSON.
  }
  return headers["ce-config"] ?? null;
}
