/** The sends that are traced, whatever the bytes of a packet are. */
import { createDecoderSync, toPacket } from "boxwright";
import { Traces, readTraceparent } from "boxwright-service/traces";
import { expect, it } from "vitest";
import type { Headers, Sink } from "../../src/sinks/sink.ts";
import { traced } from "../../src/sinks/traced.ts";

const NEVER = new AbortController().signal;
const ABOUT = { id: 'a "\\ö€.jpg', source: "/devices/gäte-\u{1f6aa}" };

const DETECTION = { class_id: 0, label: "cat", confidence: 0.5, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };

function open(share = 1) {
  const got: (Headers | undefined)[] = [];
  const sink: Sink = {
    ...{ name: "a", inFlight: 1, close: () => Promise.resolve() },
    send: (_packet, _signal, more) => (got.push(more), Promise.resolve({ kind: "stored" })),
  };
  const traces = new Traces({ url: "http://127.0.0.1:9", service: "test", share, onProblem: () => undefined });
  return { sink: traced(sink, traces), traces, got };
}

it.each(["raw", "detection"])("a %s packet has the trace of its frame", async (kind) => {
  const { sink, traces, got } = open();
  const decoder = createDecoderSync({});
  const outputs = { o: { data: new Float32Array(12), dims: [1, 6, 2] } };
  const frame = { width: 4, height: 3, resize: "letterbox", placed: [0, 0, 1, 1], rotation: 1 } as never;
  for (const about of [ABOUT, { id: "€".repeat(1024), source: "€".repeat(1024) }]) {
    const { traceId } = traces.contextOf(about.source, about.id)!;
    for (const place of [null, frame]) {
      const packet = toPacket(decoder, kind === "raw" ? outputs : ([DETECTION] as never), place, about);
      expect(await sink.send(packet, NEVER)).toEqual({ kind: "stored" });
      expect(readTraceparent(got.pop()?.["traceparent"])).toMatchObject({ traceId });
    }
  }
});

it("what is no packet of an agent, or too large to be read, is sent without a trace", async () => {
  const { sink, got } = open();
  const texts = ["", "{", "no packet", '{"specversion":"1.0","type":"a","id":"\\x","source":"b"'];
  const large = new Uint8Array(2 ** 26 + 8);
  for (const packet of [...texts.map((text) => Buffer.from(text)), large]) {
    expect(await sink.send(packet, NEVER)).toEqual({ kind: "stored" });
    expect(got.pop()).toBeUndefined();
  }
});

it("a large packet of an agent is traced too", async () => {
  const { sink, got } = open();
  const head = '{"model_name":"boxwright","id":"1","parameters":{"ce-specversion":"1.0","ce-type":"boxwright.raw.v1",';
  const large = Buffer.alloc(2 ** 26 + 8, 32);
  large.write(`${head}"ce-id":"1","ce-source":"gate"},"outputs":[]}`);
  expect(await sink.send(large, NEVER)).toEqual({ kind: "stored" });
  expect(got.pop()).toHaveProperty("traceparent");
});
