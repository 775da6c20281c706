/**
 * Traces of frames for OpenTelemetry: what happened to a frame, and when, from the camera to the row in the host's
 * database. Spans go to a collector as OTLP/HTTP in JSON.
 *
 * The trace id of a frame is a hash of its source and id. So a frame keeps its trace in the spool, after a restart, and
 * when its packet is sent again. Packets need no field for the trace.
 */
import { createHash, randomBytes } from "node:crypto";
import { connectionProblem } from "./errors.ts";
import type { Logger } from "./log.ts";

/** Ids by which other spans refer to a span. Exists only for frames that are traced. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Kinds of spans, by their numbers in OTLP. */
const KINDS = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = keyof typeof KINDS;

/** Largest number of spans that wait for the collector. Further spans are dropped, so that no frame is delayed. */
export const MOST_WAITING = 4096;
/** Number of waiting spans that are sent at once. Fewer spans wait for PAUSE_MS first. */
export const BATCH = 512;
const PAUSE_MS = 5000;
const PATIENCE_MS = 3000;
/** Digits of the trace id that choose the traced frames: the last 52 bits, which a double holds exactly. */
const CHOICE_DIGITS = 13;

export interface TracesOptions {
  /** Address of the collector. Without a path, the default path /v1/traces is added. */
  readonly url: string;
  /** Name of the service, such as "boxwright-agent". */
  readonly service: string;
  /** Share of the frames that are traced, 0 to 1. */
  readonly share: number;
  /** Called with each new reason why spans were dropped; null after the collector has accepted spans again. */
  readonly onProblem: (problem: string | null) => void;
  readonly pauseMs?: number;
}

/** Returns a listener for `onProblem` that logs. */
export const logTo =
  (log: Pick<Logger, "info" | "warn">) =>
  (problem: string | null): void => {
    if (problem === null) log.info("the collector takes traces again");
    else log.warn({ error: problem }, "traces are dropped");
  };

/** Returns the value of the header `traceparent` (W3C Trace Context). */
export const traceparentOf = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`;

/** Reads a header `traceparent`. Returns null if the sender does not trace the frame, or if the header is invalid. */
export function readTraceparent(header: string | undefined): TraceContext | null {
  const [, version, traceId, spanId, flags] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || version === "ff") return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return Number.parseInt(flags!, 16) % 2 === 1 ? { traceId, spanId } : null;
}

/** Returns a clock in milliseconds since 1970. A later correction of the system's clock does not affect this clock. */
function startClock(): () => number {
  const offset = Date.now() - performance.now();
  return () => offset + performance.now();
}

export class Traces {
  readonly #url: string;
  readonly #options: TracesOptions;
  #waiting: object[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The request under way. */
  #sending: Promise<void> | undefined;
  /** The problem that was reported last. */
  #problem: string | null = null;
  /** Number of dropped spans: the collector was away, refused them, or too many waited for it. */
  dropped = 0;
  /** Number of dropped spans without room in the queue, since the last spans that the collector accepted. */
  #crowded = 0;

  constructor(options: TracesOptions) {
    const url = new URL(options.url);
    if (url.pathname === "/") url.pathname = "/v1/traces";
    this.#url = url.href;
    this.#options = options;
  }

  /** Returns the ids of a frame's first span; null if the frame is not among the traced share. */
  contextOf(source: string, id: string): TraceContext | null {
    const hash = createHash("sha256").update(`${source}\n${id}`).digest("hex");
    const traceId = hash.slice(0, 32);
    const choice = Number.parseInt(traceId.slice(-CHOICE_DIGITS), 16) / 16 ** CHOICE_DIGITS;
    return choice < this.#options.share ? { traceId, spanId: hash.slice(32, 48) } : null;
  }

  /** Starts the first span of a frame. */
  begin(context: TraceContext, name: string): OpenSpan {
    return new OpenSpan(this, { name, context, parentSpanId: undefined, kind: "internal" });
  }

  /** Starts a child span. */
  follow(parent: TraceContext, name: string, kind: SpanKind = "internal"): OpenSpan {
    const context = { traceId: parent.traceId, spanId: newSpanId() };
    return new OpenSpan(this, { name, context, parentSpanId: parent.spanId, kind });
  }

  /** Takes a finished span. */
  add(span: FinishedSpan): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.dropped++;
      this.#crowded++;
      return;
    }
    this.#waiting.push(toOtlp(span));
    if (this.#waiting.length >= BATCH) void this.#send();
    else this.#timer ??= setTimeout(() => void this.#send(), this.#options.pauseMs ?? PAUSE_MS).unref();
  }

  /** Sends the waiting spans. Resolves once the collector has accepted or refused them. */
  async close(): Promise<void> {
    await this.#sending;
    await this.#send();
  }

  /** Sends the waiting spans, one request at a time. Spans that come during a request wait, up to MOST_WAITING. */
  #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#sending ??= this.#post().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= BATCH) void this.#send();
    }));
  }

  async #post(): Promise<void> {
    const spans = this.#waiting;
    if (spans.length === 0) return;
    this.#waiting = [];
    const resource = { attributes: toOtlpAttributes({ "service.name": this.#options.service }) };
    const scopeSpans = [{ scope: { name: "boxwright" }, spans }];
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        redirect: "error",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      if (this.#crowded === 0) this.#tell(null);
      else this.#tell("crowded", `${this.#crowded} had no room: ${MOST_WAITING} waited for the collector`);
      this.#crowded = 0;
    } catch (error) {
      this.dropped += spans.length;
      this.#tell(connectionProblem(error));
    }
  }

  /** @param text the problem in words, if they differ from time to time */
  #tell(problem: string | null, text = problem): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(text);
  }
}

interface SpanStart {
  readonly name: string;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly kind: SpanKind;
}

interface FinishedSpan extends SpanStart {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  /** Reason of a failure; undefined if the span succeeded. */
  readonly problem: string | undefined;
}

/** A span that has begun. */
export class OpenSpan {
  readonly context: TraceContext;
  readonly now = startClock();
  readonly #traces: Traces;
  readonly #start: SpanStart;
  readonly #from = this.now();

  constructor(traces: Traces, start: SpanStart) {
    this.#traces = traces;
    this.#start = start;
    this.context = start.context;
  }

  /** Adds a finished child span. */
  add(name: string, from: number, to: number, problem?: string): void {
    const context = { traceId: this.context.traceId, spanId: newSpanId() };
    const start = { name, context, parentSpanId: this.context.spanId, kind: "internal" } as const;
    this.#traces.add({ ...start, from, to, attributes: {}, problem });
  }

  /** Runs a step, and adds its span. */
  async time<T>(name: string, step: () => Promise<T>): Promise<T> {
    const from = this.now();
    try {
      const result = await step();
      this.add(name, from, this.now());
      return result;
    } catch (error) {
      this.add(name, from, this.now(), String(error));
      throw error;
    }
  }

  /** @param from begin of the span, if it is earlier than the call that made the span */
  end(attributes: Attributes, problem?: string, from = this.#from): void {
    this.#traces.add({ ...this.#start, from, to: this.now(), attributes, problem });
  }
}

const newSpanId = (): string => randomBytes(8).toString("hex");

/** Returns the nanoseconds of a time as text: a double cannot hold them exactly. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

function toOtlp({ name, context, parentSpanId, kind, from, to, attributes, problem }: FinishedSpan): object {
  return {
    ...context,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...{ name, kind: KINDS[kind], startTimeUnixNano: nanoseconds(from), endTimeUnixNano: nanoseconds(to) },
    attributes: toOtlpAttributes(attributes),
    ...(problem !== undefined && { status: { code: 2, message: problem.slice(0, 300) } }),
  };
}

function toOtlpAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]): object[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    if (typeof value === "boolean") return [{ key, value: { boolValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
