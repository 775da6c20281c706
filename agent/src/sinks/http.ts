/** A host over HTTP. */
import { packetHeaders } from "boxwright/packet";
import { messageOf } from "../core/errors.ts";
import type { HttpSettings } from "../settings/types.ts";
import { type FindConfig, type Outcome, type Preview, type Sink, previewHeaders } from "./sink.ts";

/** Milliseconds that an answer may take. */
const PATIENCE = 30_000;
/** Longest answer that is read, in characters, and longest wait that a receiver may ask for. */
const MOST_TEXT = 500;
const MOST_WAIT = 3_600_000;

/** An answer of the host, as far as it is used. */
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

  constructor(settings: HttpSettings, findConfig: FindConfig) {
    this.name = settings.name;
    this.inFlight = settings.inFlight;
    this.#settings = settings;
    this.#findConfig = findConfig;
  }

  async send(packet: Uint8Array, signal: AbortSignal): Promise<Outcome> {
    try {
      const headers = packetHeaders(packet);
      const answer = await this.#call("POST", "/v1/packets", headers, packet, signal);
      if (answer.status !== 409) return outcomeOf(answer);
      const refusal = await this.#sendConfig(hashIn(answer, headers), signal);
      return refusal ?? outcomeOf(await this.#call("POST", "/v1/packets", headers, packet, signal));
    } catch (error) {
      return { kind: "later", reason: reasonOf(error) };
    }
  }

  async preview(preview: Preview): Promise<void> {
    const signal = AbortSignal.timeout(5000);
    const answer = await this.#call("POST", "/v1/previews", previewHeaders(preview), preview.jpeg, signal);
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Gives the host a config that it asked for. Returns null if it took it. */
  async #sendConfig(hash: string | null, signal: AbortSignal): Promise<Outcome | null> {
    const record = hash === null ? null : this.#findConfig(hash);
    if (!record)
      return { kind: "refused", reason: `the host does not know config ${hash}, and this agent has it no more` };
    const headers = { "content-type": "application/json" };
    const answer = await this.#call("PUT", `/v1/configs/${record.hash}`, headers, record.json, signal);
    if (answer.status < 300) return null;
    // A host that refuses the config never decodes the packet.
    if (answer.status === 400 || answer.status === 413)
      return { kind: "refused", reason: `config ${record.hash}: ${answer.status} ${answer.text}` };
    return outcomeOf(answer);
  }

  async #call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array | string,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { url, token } = this.#settings;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      body: body as string | Uint8Array<ArrayBuffer>,
      // A packet goes where the settings say, and nowhere else.
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    });
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
  if (status === 400 || status === 413) return { kind: "refused", reason };
  const milliseconds = waitOf(retryAfter);
  // A wrong token or path is the fault of settings, not of the packet: the packet stays.
  return { kind: "later", reason, ...(milliseconds !== null && { milliseconds }) };
}

/** Returns the milliseconds that a Retry-After asks for: seconds or a date. */
function waitOf(text: string | null): number | null {
  if (text === null) return null;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return milliseconds >= 0 ? Math.min(milliseconds, MOST_WAIT) : null;
}

/** Returns the config that the host lacks: what it says, else what the packet says. */
function hashIn({ text }: Answer, headers: Readonly<Record<string, string>>): string | null {
  try {
    const { config } = JSON.parse(text) as { config?: unknown };
    if (typeof config === "string") return config;
  } catch {
    // The answer is no JSON.
  }
  return headers["ce-config"] ?? null;
}

/** Returns why a call failed. `fetch` hides the reason in its cause. */
const reasonOf = (error: unknown): string => {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
};
