/** A collector of OpenTelemetry traces: takes OTLP/HTTP in JSON, and refuses what the protocol does not allow. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: number;
  /** Nanoseconds. */
  readonly from: bigint;
  readonly to: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly boolValue?: boolean;
  readonly doubleValue?: number;
}
type KeyValues = readonly { readonly key: string; readonly value: Value }[];

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: KeyValues;
  readonly status?: { readonly code: number; readonly message: string };
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const valueOf = ({ stringValue, intValue, boolValue, doubleValue }: Value): unknown =>
  stringValue ?? boolValue ?? doubleValue ?? Number(intValue);

const recordOf = (list: KeyValues): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));

export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly requests: string[] = [];
  /** Status of the next answers. */
  status = 200;
  url = "";
  readonly #server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      this.requests.push(`${request.method} ${request.url} ${request.headers["content-type"]}`);
      if (this.status === 200) this.#take(JSON.parse(body) as Body);
      response.writeHead(this.status, { "content-type": "application/json" }).end("{}");
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  #take({ resourceSpans }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans)
      for (const { traceId, spanId, parentSpanId, name, kind, attributes, status, ...times } of scopeSpans.flatMap(
        ({ spans }) => spans,
      )) {
        if (!/^[\da-f]{32}$/.test(traceId) || !/^[\da-f]{16}$/.test(spanId)) throw new Error(`got ids of ${name}`);
        this.spans.push({
          ...{
            service: String(recordOf(resource.attributes)["service.name"]),
            name,
            traceId,
            spanId,
            parentSpanId,
            kind,
          },
          ...{ from: BigInt(times.startTimeUnixNano), to: BigInt(times.endTimeUnixNano) },
          ...{ attributes: recordOf(attributes), problem: status?.message },
        });
      }
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
