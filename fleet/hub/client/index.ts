/**
 * Client of a hub, for servers. The client refuses to run in a browser, since the API key gives access to the whole
 * team.
 *
 *     const hub = createHubClient({ baseUrl: "https://hub.example.org", apiKey: process.env.HUB_API_KEY });
 *     for (const { id, name } of await hub.devices()) console.log(id, name);
 */

import { createOperations, type Operations } from "./operations.ts";

export interface HubClientOptions {
  /** Address of the hub, without `/graphql`. */
  readonly baseUrl: string;
  /**
   * API key from the environment or a secret store. The type includes undefined, so that `process.env.X` fits, but the
   * client refuses undefined.
   */
  readonly apiKey: string | undefined;
  /** Number of repeated tries after 429, 503 or a broken connection. Default 3. */
  readonly retries?: number;
  /** Time limit of one try in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /**
   * Returns the text of a typed document that does not contain its text, as those of gql.tada. `print` of the package
   * graphql fits.
   */
  readonly print?: (document: never) => string;
  /** Waits between two tries. Tests replace this function. */
  readonly sleep?: (ms: number) => Promise<void>;
}

export type * from "./operations.ts";

export interface GraphQLErrorEntry {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Base class of all errors that the client throws on purpose. No error contains the key. */
export class HubError extends Error {
  override readonly name: string = "HubError";
  /** HTTP status, or undefined if there was no answer. */
  readonly status: number | undefined;
  /** Id of the request, to quote to the operator of the hub. */
  readonly requestId: string | undefined;

  constructor(message: string, status?: number, requestId?: string, options?: ErrorOptions) {
    super(message + (requestId === undefined ? "" : ` (request ${requestId})`), options);
    this.status = status;
    this.requestId = requestId;
  }
}

/** 401: the key is missing, mistyped, unknown or revoked. Repeating the request does not help. */
export class HubAuthError extends HubError {
  override readonly name = "HubAuthError";
}

/** 400, 403, 405, 413, 415 or a redirect: the hub, or a proxy before the hub, does not accept the client's request. */
export class HubRequestError extends HubError {
  override readonly name = "HubRequestError";
}

/** The hub answered 429 (too many requests) to every try. */
export class HubRateLimitError extends HubError {
  override readonly name = "HubRateLimitError";
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, requestId: string | undefined, retryAfterSeconds: number | undefined) {
    super(message, 429, requestId);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 5xx, no answer, or an answer that does not come from the hub. */
export class HubUnavailableError extends HubError {
  override readonly name = "HubUnavailableError";
}

/** The hub answered, but did not make the change: the result is FAILED. The message comes from the hub. */
export class HubMutationError extends HubError {
  override readonly name = "HubMutationError";
}

/** The hub answered, but the query has errors. `data` holds the parts that could be read. */
export class HubQueryError extends HubError {
  override readonly name = "HubQueryError";
  readonly errors: readonly GraphQLErrorEntry[];
  readonly data: unknown;

  constructor(errors: readonly GraphQLErrorEntry[], data: unknown, status: number, requestId: string | undefined) {
    super(errors.map((error) => error.message).join("; ") || "the hub answered with errors", status, requestId);
    this.errors = errors;
    this.data = data;
  }
}

/**
 * A query with types. gql.tada, graphql-codegen and `TypedDocumentNode` make such objects, but the client depends on
 * none of them.
 */
export interface TypedDocument<Data, Variables> {
  readonly __apiType?: (variables: Variables) => Data;
  readonly loc?: { readonly source: { readonly body: string } } | undefined;
}

export interface HubClient extends Operations {
  /** Sends any query. For a text, you state the result type. A typed document already contains its types. */
  query<Data, Variables extends Record<string, unknown> = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
  ): Promise<Data>;
}

/** Codes of errors in the query. Every other code means that the hub refused the request before the query ran. */
const QUERY_CODES = [
  ...["syntax_error", "invalid_query", "invalid_input"],
  ...["query_too_large", "answer_too_large", "missing_scope"],
];
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 20_000;

interface MutationAnswer {
  readonly team: Readonly<Record<string, { readonly status: string; readonly failedMessage: string | null }>>;
}

export function createHubClient(options: HubClientOptions): HubClient {
  refuseBrowser();
  const post = createPost(options);

  async function query<Data, Variables extends Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
  ): Promise<Data> {
    const text = textOf(document, options.print);
    const sent = await post(JSON.stringify({ query: text, ...(variables === undefined ? {} : { variables }) }));
    return readAnswer(sent) as Data;
  }

  /**
   * Sends a mutation. Does not repeat the mutation after a broken connection: the hub may have made the change already.
   */
  async function change(text: string, variables: Record<string, unknown>): Promise<unknown> {
    const data = readAnswer(await post(JSON.stringify({ query: text, variables }), false)) as MutationAnswer;
    for (const { status, failedMessage } of Object.values(data.team))
      if (status === "FAILED") throw new HubMutationError(failedMessage ?? "the hub did not make the change", 200);
    return data;
  }

  return { query, ...createOperations((text, variables) => query(text, variables), change) };
}

function refuseBrowser(): void {
  const scope = globalThis as { document?: unknown; window?: unknown; importScripts?: unknown };
  if (scope.window === undefined && scope.document === undefined && typeof scope.importScripts !== "function") return;
  throw new HubError(
    "got a browser, expected a server: the API key opens the whole team and everyone can read what a page holds; call the hub from your backend",
  );
}

interface Sent {
  readonly response: Response;
  readonly text: string;
}

/** Returns a function that sends a body and retries. A body that must not be repeated is sent again only after 429. */
function createPost(options: HubClientOptions): (body: string, isRepeatable?: boolean) => Promise<Sent> {
  const {
    retries = 3,
    timeoutMs = 10_000,
    fetch: send = fetch,
    sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
  } = options;
  const url = endpoint(options.baseUrl);
  // Keep the key in a closure, not in a field, so that printing the client cannot print the key.
  const key = checkKey(options.apiKey);

  /** Returns the message of an error without the key, since the message may quote the request. */
  const clean = (error: unknown): string =>
    (error instanceof Error ? error.message : String(error)).replaceAll(key, "[key]");

  async function once(body: string): Promise<Sent | HubUnavailableError | HubRequestError> {
    try {
      const response = await send(url, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
        body,
        // Refuse redirects, which could carry the key to another server.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        await response.body?.cancel();
        return new HubRequestError(`got a redirect from ${url}, expected an answer: check baseUrl`, response.status);
      }
      // Remove the key from the text: a wrong server may echo the request.
      return { response, text: (await response.text()).replaceAll(key, "[key]") };
    } catch (error) {
      const inner = error instanceof Error && error.cause instanceof Error ? `: ${clean(error.cause)}` : "";
      return new HubUnavailableError(`got no answer from ${url} (${clean(error)}${inner})`);
    }
  }

  return async (body, isRepeatable = true) => {
    for (let tries = 0; ; tries++) {
      const outcome = await once(body);
      if (outcome instanceof HubRequestError) throw outcome;
      const failed = outcome instanceof HubUnavailableError;
      if (!failed && outcome.response.status !== 429 && outcome.response.status !== 503) return outcome;
      const asked = failed ? undefined : retryAfter(outcome.response);
      // Give up if the hub asks for a longer pause than MAX_PAUSE_MS. The caller then decides when to try again.
      const isFinal = !isRepeatable && (failed || outcome.response.status === 503);
      if (isFinal || tries >= retries || (asked !== undefined && asked * 1000 > MAX_PAUSE_MS)) {
        if (failed) throw outcome;
        return outcome;
      }
      // Double the pause each time. Half of the pause is random, so that many clients do not retry at the same time.
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS);
      await sleep(Math.max((asked ?? 0) * 1000, pause / 2 + Math.random() * (pause / 2)));
    }
  };
}

/** Returns the data of an answer, or throws the matching error. */
function readAnswer({ response, text }: Sent): unknown {
  const { status } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const answer = parse(text);
  const first = answer?.errors?.[0]?.message ?? text.slice(0, 200);
  if (status === 401) throw new HubAuthError(first, status, requestId);
  if (status === 429) throw new HubRateLimitError(first, requestId, retryAfter(response));
  if (status >= 500) throw new HubUnavailableError(first, status, requestId);
  if (answer === undefined || (answer.errors === undefined && answer.data === undefined)) {
    if (status >= 400) throw new HubRequestError(`got status ${status}: ${first}`, status, requestId);
    const message = `got ${JSON.stringify(text.slice(0, 80))}, expected an answer of the hub: check baseUrl`;
    throw new HubUnavailableError(message, status, requestId);
  }
  const code = answer.errors?.[0]?.extensions?.["code"];
  if (status >= 400 && typeof code === "string" && !QUERY_CODES.includes(code))
    throw new HubRequestError(first, status, requestId);
  if (answer.errors !== undefined) throw new HubQueryError(answer.errors, answer.data, status, requestId);
  return answer.data;
}

function endpoint(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new HubError(`baseUrl: got ${JSON.stringify(baseUrl)}, expected an address like https://hub.example.org`);
  }
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !local)
    throw new HubError(`baseUrl: got ${JSON.stringify(baseUrl)}, expected https: the key would travel in the open`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/graphql`;
}

function checkKey(apiKey: string | undefined): string {
  if (typeof apiKey !== "string" || !/^hub_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/.test(apiKey)) {
    throw new HubAuthError(
      `apiKey: got ${typeof apiKey === "string" ? `a text of ${apiKey.length} characters` : typeof apiKey}, expected a key like hub_..., 55 characters, made in the team settings`,
    );
  }
  return apiKey;
}

function textOf(
  document: string | TypedDocument<unknown, never>,
  print: ((document: never) => string) | undefined,
): string {
  if (typeof document === "string") return document;
  const text = document.loc?.source.body ?? print?.(document as never);
  if (text === undefined)
    throw new HubError(
      "query: got a document without its source text, expected a text, a document parsed with locations, or the option `print`",
    );
  return text;
}

function parse(text: string): { data?: unknown; errors?: GraphQLErrorEntry[] } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { errors } = value as { errors?: unknown };
    const known =
      errors === undefined ||
      (Array.isArray(errors) &&
        errors.every((error) => typeof (error as GraphQLErrorEntry | null)?.message === "string"));
    return known ? value : undefined;
  } catch {
    return undefined;
  }
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
