/** Requests of the page to the host, besides its events. Routes: `src/http/query.ts` and `src/http/history.ts`. */
import type { Drawn } from "boxwright";

/** The camera of a view. */
export interface Place {
  readonly source: string;
  /** Name of the camera; "" if packets name none. */
  readonly subject: string;
}

/** A line of `/v1/detections`. */
export interface Frame {
  readonly id: string;
  readonly time: string;
  readonly cursor: string;
  readonly frame: { readonly width?: number; readonly height?: number } | null;
  readonly detections: readonly (Drawn & { readonly label?: string | null; readonly class_id?: number })[];
}

/** A span of `/v1/timeline`. A null `label` stands for all frames. */
export interface Span {
  readonly start: string;
  readonly label: string | null;
  readonly frames: number;
  readonly detections: number;
}

/** An event of `/v1/seen`. */
export interface SeenEvent {
  readonly source: string;
  readonly subject: string | null;
  readonly label: string;
  readonly first: string;
  readonly last: string;
  readonly frames: number;
  readonly detections: number;
  readonly best: number;
}

export interface Found {
  readonly labels: readonly string[];
  readonly events: readonly SeenEvent[];
  readonly isWhole: boolean;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** Returns the query of an address, without undefined parameters. */
const parametersOf = (query: Query): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString();

/** @throws Error with a text for the reader */
async function ask(path: string, query: Query): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`${path}?${parametersOf(query)}`);
  } catch {
    throw new Error("The host did not answer. Try again once it is back.");
  }
  if (answer.ok) return answer;
  const { error } = (await answer.json().catch(() => ({}))) as { error?: string };
  throw new Error(`The host refused: ${error ?? `status ${answer.status}`}`);
}

/** Returns the frame before or after a position in the order of frames; null if there is none. */
export async function askFrame(
  place: Place,
  query: { readonly before?: string; readonly after?: string; readonly label?: string | undefined },
): Promise<Frame | null> {
  const text = await (await ask("/v1/detections", { ...place, ...query, limit: 1 })).text();
  return text === "" ? null : (JSON.parse(text) as Frame);
}

export async function askTimeline(
  place: Place,
  query: { readonly from: string; readonly to: string; readonly unit: string },
): Promise<readonly Span[]> {
  const { spans } = (await (await ask("/v1/timeline", { ...place, ...query })).json()) as { spans: readonly Span[] };
  return spans;
}

export const askSeen = async (query: Query): Promise<Found> => (await (await ask("/v1/seen", query)).json()) as Found;

/** Returns the address that shows one camera, or all cameras of a source. */
export const addressOf = (place: Partial<Place>, more: Query = {}): string =>
  `/?${parametersOf({ ...place, ...more, ...(new URLSearchParams(location.search).has("framed") && { framed: "" }) })}`;
