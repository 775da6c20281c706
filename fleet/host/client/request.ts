/** Sends a request to the host, and ends it if nothing arrives for too long. */

/** Error: the host refuses a request, or is unreachable. The message never contains the token. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** HTTP status, or undefined if there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export interface AskOptions {
  readonly base: string;
  readonly token: string | undefined;
  readonly patienceMs: number;
  readonly fetch: typeof fetch;
}

/** Passes the answer of a request to `use`, which calls `beat` when bytes arrive. Yields the results of `use`. */
export type Ask = <T>(
  path: string,
  headers: Readonly<Record<string, string>>,
  outer: AbortSignal | undefined,
  use: (response: Response, beat: () => void) => AsyncGenerator<T>,
) => AsyncGenerator<T, void>;

export function createAsk(options: AskOptions): Ask {
  const { base, token, patienceMs } = options;
  return ask;

  async function* ask<T>(
    path: string,
    headers: Readonly<Record<string, string>>,
    outer: AbortSignal | undefined,
    use: (response: Response, beat: () => void) => AsyncGenerator<T>,
  ): AsyncGenerator<T, void> {
    const end = new AbortController();
    const abort = (): void => end.abort(outer?.reason);
    const late = (): void => end.abort(new HostError(`the host was silent for ${patienceMs / 1000} s`));
    let timer = setTimeout(late, patienceMs);
    const beat = (): void => {
      clearTimeout(timer);
      timer = setTimeout(late, patienceMs);
    };
    outer?.addEventListener("abort", abort);
    if (outer?.aborted) abort();
    try {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await options.fetch(base + path, {
        headers: { ...authorization, ...headers },
        signal: end.signal,
      });
      if (!response.ok) throw await refusalOf(response);
      yield* use(response, beat);
    } catch (error) {
      // Throw the reason of the abort: the timer's HostError, or the caller's reason.
      if (end.signal.aborted) throw end.signal.reason;
      throw error instanceof HostError
        ? error
        : new HostError(`the host is away: ${textOf(error)}`, undefined, { cause: error });
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
      end.abort();
    }
  }
}

async function refusalOf(response: Response): Promise<HostError> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  let reason = text.slice(0, 300);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string") reason = error;
  } catch {
    // Go on: the answer is not JSON, so it comes from a proxy.
  }
  return new HostError(`the host answered ${status}: ${reason}`, status);
}

const textOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
};

/**
 * Waits for a number of milliseconds.
 * @throws the reason of the signal
 */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
  signal?.throwIfAborted();
}
