/** Sends requests to a hub with the device's credential. */
import { isObject } from "boxwright-service/schema/json";
import { connectionProblem, messageOf } from "boxwright-service/errors";
import { runWithin } from "boxwright-service/patience";
import { askedPause } from "boxwright-service/retry";
import type { Identity, IdentityFile } from "./identity.ts";

/** Milliseconds until a request without an answer is aborted. */
const PATIENCE = 30_000;
const MOST_TEXT = 4 * 2 ** 20;

/** Error: the hub cannot be reached, or another server answered. A later request may succeed. */
export class HubAwayError extends Error {
  override readonly name = "HubAwayError";
}

/** Error: the hub refused a request. */
export class HubRefusal extends Error {
  override readonly name: string = "HubRefusal";
  readonly status: number;
  /** Milliseconds that the hub asks the agent to wait (Retry-After); null if the answer has no such header. */
  readonly askedPause: number | null;

  constructor(status: number, message: string, pause: number | null = null) {
    super(message);
    this.status = status;
    this.askedPause = pause;
  }

  /** True if the same request may succeed later. Also true if the hub states when to try again, whatever the status. */
  get isForNow(): boolean {
    return this.askedPause !== null || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Error: the hub does not know the credential. The credential was revoked, or the device was deleted. */
export class RevokedError extends HubRefusal {
  override readonly name = "RevokedError";
}

/** True if the hub refused this request permanently. False for a revoked device, which may come back and retry. */
export const isFinal = (error: unknown): error is HubRefusal =>
  error instanceof HubRefusal && !error.isForNow && !(error instanceof RevokedError);

/** Returns an error of the hub unchanged. Wraps other errors, such as a full disk, so that the request is repeated. */
export const asAway = (error: unknown): Error =>
  error instanceof HubAwayError || error instanceof HubRefusal ? error : new HubAwayError(messageOf(error));

export interface HubRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: object | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds until the request is aborted. */
  readonly patience?: number;
}

export interface HubAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined if there is none. */
  readonly json: unknown;
}

const NEVER = new AbortController().signal;

/** Sends a request. @param read reads the response if its status is below 400 */
async function send<R>(
  hub: string,
  credential: string | null,
  { method = "GET", path, body, headers = {}, signal = NEVER, patience = PATIENCE }: HubRequest,
  read: (response: Response) => Promise<R>,
): Promise<R> {
  const isBytes = body instanceof Uint8Array;
  return runWithin(patience, signal, async (both) => {
    let response: Response;
    try {
      response = await fetch(hub + path, {
        method,
        headers: {
          ...(body !== undefined && !isBytes && { "content-type": "application/json" }),
          ...(credential !== null && { authorization: `Bearer ${credential}` }),
          ...headers,
        },
        ...(body !== undefined && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
        // Follow no redirect, so that the credential goes only to the address in the settings.
        redirect: "error",
        signal: both,
      });
      if (response.status < 400) return await read(response);
    } catch (error) {
      if (error instanceof HubRefusal || error instanceof HubAwayError) throw error;
      throw new HubAwayError(`the hub ${hub} cannot be reached: ${connectionProblem(error)}`);
    }
    throw await refusalOf(response);
  });
}

async function refusalOf(response: Response): Promise<HubRefusal> {
  const text = (await response.text().catch(() => "")).slice(0, MOST_TEXT);
  const message = `the hub says ${response.status}: ${messageIn(text)}`;
  if (response.status === 401) return new RevokedError(401, message);
  return new HubRefusal(response.status, message, askedPause(response.headers.get("retry-after")));
}

/** Returns the message in the JSON of a refusal, or the start of the text. */
function messageIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) {
      const [first] = Array.isArray(body["errors"]) ? (body["errors"] as unknown[]) : [];
      if (isObject(first) && typeof first["message"] === "string") return first["message"].slice(0, 500);
      if (typeof body["error"] === "string") return body["error"].slice(0, 500);
    }
  } catch {
    // Ignore the error: the answer is not JSON, so it comes from a proxy.
  }
  return text.slice(0, 200).trim() || "no reason";
}

async function readJson(response: Response): Promise<HubAnswer> {
  const text = await response.text();
  const { status, headers } = response;
  if (text === "") return { status, headers, json: undefined };
  try {
    return { status, headers, json: JSON.parse(text) as unknown };
  } catch {
    throw new HubAwayError(`the hub answered ${text.slice(0, 60)}, expected JSON. Is this the address of a hub?`);
  }
}

/** Sends a request without a credential. */
export const askHub = (hub: string, request: HubRequest): Promise<HubAnswer> => send(hub, null, request, readJson);

export class HubClient {
  answers = 0;
  readonly #file: IdentityFile;
  #identity: Identity;

  constructor(file: IdentityFile, identity: Identity) {
    this.#file = file;
    this.#identity = identity;
  }

  get identity(): Identity {
    return this.#identity;
  }

  /**
   * Sends a request with the device's credential.
   * @throws HubAwayError, HubRefusal, or RevokedError if the hub no longer accepts the credential
   */
  ask(request: HubRequest): Promise<HubAnswer> {
    return this.stream(request, readJson);
  }

  /** Sends a request, as `ask` does. Passes the response to `read`, and returns what `read` returns. */
  async stream<R>(request: HubRequest, read: (response: Response) => Promise<R>): Promise<R> {
    const answer = await this.#send(request, read);
    this.answers++;
    return answer;
  }

  async #send<R>(request: HubRequest, read: (response: Response) => Promise<R>): Promise<R> {
    const { hub, credential, previous } = this.#identity;
    try {
      const answer = await send(hub, credential, request, read);
      // Forget the old credential, since the hub has accepted the new one.
      if (previous !== null && this.#identity.credential === credential) this.#change({ previous: null });
      return answer;
    } catch (error) {
      if (!(error instanceof RevokedError) || previous === null) throw error;
      return send(hub, previous, request, read);
    }
  }

  /** Stores a new credential. Keeps the old one until the hub has accepted the new one. */
  rotate(credential: string): void {
    this.#change({ credential, previous: this.#identity.credential });
  }

  /** Stores the credential that the hub gave when the device came back. The former credential is void. */
  renew(credential: string): void {
    this.#change({ credential, previous: null, token: null });
  }

  /** Stores a new token for hosts. */
  keepToken(token: string): void {
    this.#change({ token });
  }

  #change(change: Partial<Identity>): void {
    this.#identity = { ...this.#identity, ...change };
    this.#file.write(this.#identity);
  }
}
