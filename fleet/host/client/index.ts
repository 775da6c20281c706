/**
 * Client of a host: its stored detections and its live state. It has no dependencies, and runs in Node 20 and newer and
 * in pages served by the host or by a proxy in front of it.
 *
 *     const host = createHostClient({ baseUrl: "http://localhost:8790", token: process.env.BOXWRIGHT_PAGE_TOKEN });
 *     for await (const { time, detections } of host.detections({ subject: "door" })) console.log(time, detections);
 */
import { readEvents } from "./event-stream.ts";
import { HostError, createAsk, pause } from "./request.ts";
import type { HostState, StoredFrame } from "./types.ts";

export { HostError } from "./request.ts";
export type * from "./types.ts";

export interface HostClientOptions {
  /** Address of the host, such as http://localhost:8790. */
  readonly baseUrl: string;
  /** The host's pageToken. In a page that the host serves, the browser sends the password itself. */
  readonly token?: string | undefined;
  /**
   * Largest count of consecutive retries of a request for detections while the host is unreachable or busy. Default 5.
   */
  readonly retries?: number;
  /** Milliseconds before the first retry. Each later pause is twice as long, up to 30 s. Default 500. */
  readonly retryMs?: number;
  /** Milliseconds without an answer or event after which a connection is closed. Default 15,000. */
  readonly patienceMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface DetectionsQuery {
  /** Only frames of this device. */
  readonly source?: string;
  /** Only frames of cameras with this name. */
  readonly subject?: string;
  /** Cursor of a frame, or a time in RFC 3339. Only later frames are returned. */
  readonly after?: string;
  /** Frames of one request, from 1 to 10,000. Default 1,000. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

export interface HostClient {
  /**
   * Yields stored frames in order of capture, up to the last one. Reads pages on demand.
   * @throws HostError if the host refuses, or is unreachable in all tries
   */
  detections(query?: DetectionsQuery): AsyncGenerator<StoredFrame, void>;
  /**
   * Yields the live state: first of all cameras, then of those that changed. Reconnects while the loop runs, and
   * continues after the last received state.
   * @throws HostError if the host refuses
   */
  events(options?: { readonly signal?: AbortSignal }): AsyncGenerator<HostState, void>;
}

const LONGEST_PAUSE_MS = 30_000;
/** True for an answer after which the same request may succeed later. */
const isForNow = (status: number | undefined): boolean =>
  status === undefined || status === 408 || status === 429 || status >= 500;

/** @throws HostError if an option is missing or wrong */
export function createHostClient(options: HostClientOptions): HostClient {
  const { retries = 5, retryMs = 500, patienceMs = 15_000 } = options;
  const base = String(options.baseUrl).replace(/\/+$/, "");
  if (!/^https?:\/\/[^\s]+$/.test(base))
    throw new HostError(`baseUrl: got "${options.baseUrl}", expected an address like http://localhost:8790`);
  const ask = createAsk({ base, token: options.token, patienceMs, fetch: options.fetch ?? fetch });
  const pauseAfter = (failures: number): number => Math.min(retryMs * 2 ** (failures - 1), LONGEST_PAUSE_MS);

  async function* detections(query: DetectionsQuery = {}): AsyncGenerator<StoredFrame, void> {
    const { source, subject, pageSize = 1000, signal } = query;
    let { after } = query;
    let failures = 0;
    for (;;) {
      const given = Object.entries({ source, subject, after, limit: String(pageSize) });
      const search = new URLSearchParams(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
      let frames: StoredFrame[] = [];
      try {
        for await (const page of ask(`/v1/detections?${search.toString()}`, {}, signal, readPage)) frames = page;
        failures = 0;
      } catch (error) {
        if (signal?.aborted || !(error instanceof HostError) || !isForNow(error.status) || ++failures > retries)
          throw error;
        await pause(pauseAfter(failures), signal);
        continue;
      }
      for (const frame of frames) {
        signal?.throwIfAborted();
        yield frame;
      }
      if (frames.length < pageSize) return;
      after = frames.at(-1)!.cursor;
    }
  }

  async function* events({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<HostState, void> {
    let lastId = "";
    for (let failures = 1; ; failures++) {
      const headers = { accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) };
      try {
        const stream = ask("/events", headers, signal, (response, beat) => readEvents(response.body!, beat));
        for await (const { event, data, id } of stream) {
          failures = 0;
          lastId = id;
          if (event === "state") yield JSON.parse(data) as HostState;
        }
      } catch (error) {
        if (signal?.aborted || !(error instanceof HostError) || !isForNow(error.status)) throw error;
      }
      await pause(pauseAfter(Math.max(1, failures)), signal);
    }
  }

  return { detections, events };
}

/** Yields all frames of a page at once. Throws if the answer was cut off: the caller then requests the page again. */
async function* readPage(response: Response): AsyncGenerator<StoredFrame[]> {
  const text = await response.text();
  if (text !== "" && !text.endsWith("\n")) throw new Error("the answer was cut off");
  yield text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as StoredFrame);
}
