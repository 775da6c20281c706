import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepPace, watchPace } from "../src/pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a body that keeps its pace goes on, and one that falls behind is told of once", () => {
  const told: string[] = [];
  const watch = watchPace({ rate: 100, window: 1000 }, (reason) => told.push(reason));
  for (let second = 0; second < 3; second++) {
    watch.count(100);
    vi.advanceTimersByTime(1000);
  }
  expect(told).toEqual([]);
  watch.count(99);
  vi.advanceTimersByTime(5000);
  expect(told).toEqual(["got 99 bytes in 1 s, expected at least 100"]);
});

test("a body has a longest time, whatever its pace", () => {
  const told: string[] = [];
  const watch = watchPace({ rate: 0, window: 1000, most: 2500 }, (reason) => told.push(reason));
  watch.count(1e6);
  vi.advanceTimersByTime(2000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(told).toEqual(["got 1000000 bytes in 3 s, expected the whole body by then"]);
});

test("a watch that has ended says nothing", () => {
  const watch = watchPace({ rate: 100, window: 1000 }, () => expect.unreachable());
  watch.end();
  vi.advanceTimersByTime(5000);
});

test("chunks end where the body stands still, and pass otherwise", async () => {
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from("one");
    yield Buffer.from("two");
    await new Promise(() => undefined);
  }
  const got: string[] = [];
  const reading = (async () => {
    for await (const chunk of keepPace(body(), { rate: 1, window: 1000 })) got.push(chunk.toString());
  })();
  await vi.advanceTimersByTimeAsync(3000);
  await reading;
  expect(got).toEqual(["one", "two"]);
});
