/** A device that its hub pauses. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { Camera, type Device, type Pausing } from "../../src/camera.ts";
import { newStats, type SourceFrame } from "../../src/sources/source.ts";
import { Pause } from "../../src/hub/pause.ts";
import { CONFIG, MODEL } from "../support/echo.ts";
import { setUp } from "../support/device.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";

const silent = pino({ level: "silent" });

it("takes no frames, sends heartbeats that say so, and goes on where it was, across restarts without the hub", async () => {
  const { folder, hub, host, start } = await setUp();
  hub.interval = 1;
  hub.give({ etag: "doors@1", model: readFileSync(MODEL), config: CONFIG });
  const agent = await start();
  await writePhotos(join(folder, "photos"), 2, 0);
  await until(() => host.stored.size === 2, "2 packets");
  hub.isPaused = true;
  await until(() => hub.beats.at(-1)?.paused === true, "a heartbeat that says so");
  expect(existsSync(join(folder, "state/paused"))).toBe(true);
  await writePhotos(join(folder, "photos"), 3, 2);
  const { length } = hub.beats;
  await until(() => hub.beats.length >= length + 3, "more heartbeats");
  expect(host.stored.size).toBe(2);
  await agent.close();
  // It starts without its hub, and stays paused.
  const answer = hub.answer;
  hub.answer = () => ({ status: 503 });
  const second = await start();
  await until(() => second.report.read().hub !== null);
  expect(second.report.read()).toMatchObject({ hub: { isPaused: true } });
  expect(host.stored.size).toBe(2);
  hub.answer = answer;
  hub.isPaused = false;
  await until(() => host.stored.size === 5, "the photos of the pause");
  expect(existsSync(join(folder, "state/paused"))).toBe(false);
  await until(() => hub.beats.at(-1)?.paused === false, "a heartbeat that says so");
});

it("confirms a pause at once, and does not wait for its next heartbeat", async () => {
  const { hub, start } = await setUp();
  hub.interval = 3600;
  hub.isPaused = true;
  await start();
  await until(() => hub.beats.at(-1)?.paused === true, "a heartbeat that says so");
});

it("of a live camera throws frames away uncounted; of a recording, keeps them for later", async () => {
  for (const isRecorded of [false, true]) {
    const pause = new Pause(temporaryFolder(), silent);
    pause.set(true);
    const taken: string[] = [];
    let given = 0;
    const end = new AbortController();
    const next = async (signal: AbortSignal): Promise<SourceFrame | null> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (signal.aborted || given === 10) return null;
      return { id: `f${given++}`, time: new Date(), done: () => undefined } as SourceFrame;
    };
    const source = {
      camera: "door",
      isRecorded,
      stats: newStats(),
      problem: null,
      next,
      close: () => Promise.resolve(),
    };
    const watched: Pausing = {
      get isPaused() {
        return pause.isPaused;
      },
      over: (signal) => pause.over(signal),
    };
    const device = {
      ...{ name: "d", pause: watched, log: silent, previews: null, firstSequence: 0, snaps: null },
      network: {
        process: (_: unknown, { id }: { id: string }) => (taken.push(id), Promise.reject(new Error("taken"))),
      },
    } as unknown as Device;
    const camera = new Camera(source, device);
    const running = camera.run(end.signal);
    await until(() => given === (isRecorded ? 1 : 10), "frames");
    expect([taken, camera.stats.frames]).toEqual([[], 0]);
    pause.set(false);
    await running;
    expect(taken).toEqual(isRecorded ? Array.from({ length: 10 }, (_, i) => `f${i}`) : []);
    expect(source.stats.dropped).toBe(0);
  }
});
