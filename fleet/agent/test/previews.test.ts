import { pino } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { KEPT_PICTURES } from "boxwright-service/schema/protocol";
import { sleep, until } from "boxwright-service/testing/wait";
import { Previews } from "../src/previews.ts";
import { pictureOf } from "./support/echo.ts";

it("sends photos in their order, though one comes between two pictures that are sent late", async () => {
  let now = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
  const sent: string[] = [];
  const preview = ({ id }: { id: string }): Promise<void> => Promise.resolve(void sent.push(id));
  const sink = { name: "s", inFlight: 1, send: vi.fn(), close: vi.fn(), preview };
  const previews = new Previews({ every: 0.2, width: 16 }, "d", [sink], pino({ level: "silent" }));
  const { signal } = new AbortController();
  const source = { camera: "c", isRecorded: true };
  const offer = (id: string): void =>
    previews.offer(source, { id, time: new Date(1), image: pictureOf([]), done: () => undefined }, signal);
  for (const id of ["1", "2", "3"]) offer(id);
  const finished = previews.finish(source, signal);
  await until(() => sent.includes("2"), "the second picture");
  // Late enough for another picture, while the third one waits for its turn.
  now += 200;
  offer("4");
  await finished;
  await previews.finish(source, signal);
  expect(sent).toEqual(["1", "2", "3", "4"]);
});

it("leaves time between two photos after the first one has arrived, however long it took", async () => {
  /** Times at which a picture was on its way, in milliseconds. */
  const sent: { begin: number; end: number }[] = [];
  const preview = async (): Promise<void> => {
    const begin = performance.now();
    await sleep(250);
    sent.push({ begin, end: performance.now() });
  };
  const sink = { name: "s", inFlight: 1, send: vi.fn(), close: vi.fn(), preview };
  const previews = new Previews({ every: 2, width: 16 }, "d", [sink], pino({ level: "silent" }));
  const { signal } = new AbortController();
  const source = { camera: "c", isRecorded: true };
  for (const id of ["1", "2", "3"])
    previews.offer(source, { id, time: new Date(1), image: pictureOf([]), done: () => undefined }, signal);
  await previews.finish(source, signal);
  expect(sent).toHaveLength(3);
  // A host refuses more than five a second. It counts from the arrival of the one before.
  for (const [i, { begin }] of sent.entries()) if (i > 0) expect(begin - sent[i - 1]!.end).toBeGreaterThan(200);
});

it("keeps the last eight photos of a folder that comes faster than pictures are sent, and no more", async () => {
  const sent: string[] = [];
  const preview = ({ id }: { id: string }): Promise<void> => Promise.resolve(void sent.push(id));
  const sink = { name: "s", inFlight: 1, send: vi.fn(), close: vi.fn(), preview };
  const previews = new Previews({ every: 0.01, width: 16 }, "d", [sink], pino({ level: "silent" }));
  const { signal } = new AbortController();
  const source = { camera: "c", isRecorded: true };
  const ids = Array.from({ length: 30 }, (_, i) => `${i + 1}`);
  for (const id of ids)
    previews.offer(source, { id, time: new Date(1), image: pictureOf([]), done: () => undefined }, signal);
  await previews.finish(source, signal);
  expect(sent).toEqual(["1", ...ids.slice(-KEPT_PICTURES)]);
});
