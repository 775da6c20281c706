/** Traces: which frames have one, what a collector gets, and what is left of them without a collector. */
import { afterEach, expect, it } from "vitest";
import { Collector } from "../src/testing/collector.ts";
import { BATCH, MOST_WAITING, Traces, readTraceparent, traceparentOf } from "../src/traces.ts";

let collector: Collector;
afterEach(() => collector?.stop());

async function open(share = 1) {
  collector = await new Collector().start();
  const problems: (string | null)[] = [];
  const options = { service: "test", share, onProblem: (problem: string | null) => problems.push(problem) };
  return { traces: new Traces({ ...options, url: collector.url }), problems };
}

it("the context of a frame follows from source and id, and the share chooses the same frames everywhere", async () => {
  const { traces } = await open(0.25);
  const ids = Array.from({ length: 2000 }, (_, i) => `frame ${i}`);
  const traced = ids.filter((id) => traces.contextOf("gate", id) !== null);
  expect(traced.length).toBeGreaterThan(400);
  expect(traced.length).toBeLessThan(600);
  const { traces: again } = await open(0.5);
  for (const id of traced) expect(again.contextOf("gate", id)).toEqual(traces.contextOf("gate", id));
  expect(again.contextOf("gate", traced[0]!)).not.toEqual(again.contextOf("door", traced[0]!));
  const { traces: none } = await open(0);
  expect(ids.every((id) => none.contextOf("gate", id) === null)).toBe(true);
});

it("a traceparent is read as W3C Trace Context says", () => {
  const context = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
  const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  expect(traceparentOf(context)).toBe(header);
  expect(readTraceparent(header)).toEqual(context);
  expect(readTraceparent(header.replace(/^00/, "cc") + "-what-the-future-brings")).toEqual(context);
  for (const bad of [
    ...[undefined, "", "00", header.replace(/01$/, "00"), header.toUpperCase(), header.replace(/^00/, "ff")],
    ...[
      header.replace(/4bf92f3577b34da6a3ce929d0e0e4736/, "0".repeat(32)),
      header.replace("00f067aa0ba902b7", "0".repeat(16)),
    ],
  ])
    expect([bad, readTraceparent(bad)]).toEqual([bad, null]);
});

it("spans arrive with parents, times and attributes", async () => {
  const { traces } = await open();
  const context = traces.contextOf("gate", "1")!;
  const before = Date.now();
  const frame = traces.begin(context, "frame");
  expect(await frame.time("store", () => Promise.resolve(7))).toBe(7);
  await expect(frame.time("break", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  const send = traces.follow(context, "send", "client");
  send.end({ size: 5, ratio: 0.5, ok: true, none: null }, "away");
  frame.end({ "boxwright.camera": "door" }, undefined, before - 1000);
  await traces.close();
  expect(collector.requests).toEqual(["POST /v1/traces application/json"]);
  const [store, broken, sent, root] = collector.spans;
  expect(root).toMatchObject({ ...context, name: "frame", service: "test", kind: 1, parentSpanId: undefined });
  expect(root!.attributes).toEqual({ "boxwright.camera": "door" });
  expect(root!.from).toBe(BigInt(before - 1000) * 1_000_000n);
  expect(root!.to >= store!.to && store!.to >= store!.from).toBe(true);
  expect(sent).toMatchObject({ kind: 3, problem: "away", attributes: { size: 5, ratio: 0.5, ok: true } });
  expect(broken!.problem).toContain("broken");
  for (const span of [store, broken, sent])
    expect(span).toMatchObject({ traceId: context.traceId, parentSpanId: context.spanId });
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(4);
});

it("a collector that refuses or is away costs spans, and is told once", async () => {
  const { traces, problems } = await open();
  const { context } = traces.begin(traces.contextOf("gate", "1")!, "frame");
  collector.status = 503;
  for (let i = 0; i < 2; i++) {
    traces.follow(context, "send").end({});
    await traces.close();
  }
  expect([traces.dropped, problems]).toEqual([2, ["the collector answered 503"]]);
  collector.status = 200;
  traces.follow(context, "send").end({});
  await traces.close();
  expect([collector.spans.length, problems.at(-1)]).toEqual([1, null]);
  await collector.stop();
  // The first batch is under way, as many spans as there is room for wait, and there is none for the last ones.
  for (let i = 0; i < BATCH + MOST_WAITING + 5; i++) traces.follow(context, "send").end({});
  expect(traces.dropped).toBe(2 + 5);
  await traces.close();
  expect(traces.dropped).toBe(2 + BATCH + MOST_WAITING + 5);
});

it("spans without room are counted, and told once with the next spans that the collector takes", async () => {
  const { traces, problems } = await open();
  const { context } = traces.begin(traces.contextOf("gate", "1")!, "frame");
  for (let i = 0; i < BATCH + MOST_WAITING + 5; i++) traces.follow(context, "send").end({});
  expect(problems).toEqual([]);
  await traces.close();
  expect(problems[0]).toBe("5 had no room: 4096 waited for the collector");
  traces.follow(context, "send").end({});
  await traces.close();
  expect([traces.dropped, problems.slice(1)]).toEqual([5, [null]]);
});
