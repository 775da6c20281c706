/** A device whose clock is ahead for a while. */
import { describe, expect, test } from "vitest";
import { emptyDatabase, kinds, temporaryFolder, testHost } from "../support/host.ts";
import { detectionPacket } from "../support/frames.ts";

describe.each(kinds)("$kind", ({ kind, skip }) => {
  test.skipIf(skip)("a frame from the future holds no camera, and its clock is told apart from latency", async () => {
    const folder = temporaryFolder();
    let now = Date.UTC(2026, 0, 1);
    const host = await testHost({ database: await emptyDatabase(kind, folder.path) }, () => now);
    const send = async (n: number, time: number): Promise<void> => {
      now += 1000;
      expect((await host.post(detectionPacket(n, { time: new Date(time) }))).status).toBe(204);
    };
    const camera = async (): Promise<any> => (await (await fetch(`${host.url}/v1/cameras`)).json()).cameras[0];
    await send(0, now);
    expect(await camera()).toMatchObject({ latencyMs: 1000, clockAheadMs: null });
    const year = 365 * 86_400_000;
    await send(1, now + year);
    expect(await camera()).toMatchObject({ latencyMs: null, clockAheadMs: year - 1000 });
    // The clock is right again: the camera shows the next frame.
    await send(2, now);
    expect(await camera()).toMatchObject({ latencyMs: 1000, clockAheadMs: null });
    // A frame that waited in a spool is not the last one.
    const { lastTime } = await camera();
    await send(3, now - 60_000);
    expect((await camera()).lastTime).toBe(lastTime);
    await host.end();
  });

  test.skipIf(skip)("frames of the year 9999 are marked, and no reader waits for that year", async () => {
    const folder = temporaryFolder();
    const now = Date.UTC(2026, 0, 1, 1);
    const host = await testHost({ database: await emptyDatabase(kind, folder.path) }, () => now);
    const send = async (n: number, time: string): Promise<void> => {
      expect((await host.post(detectionPacket(n, { time }))).status).toBe(204);
    };
    const last = "9999-12-31T23:59:59.999Z";
    await send(0, "2026-01-01T00:00:00Z");
    await send(1, last);
    const [frame, ...none] = await host.lines();
    expect([frame.id, none, "clockAheadMs" in frame]).toEqual(["frame-0", [], false]);
    await send(2, "2026-01-01T00:00:01Z");
    expect((await host.lines(`after=${frame.cursor}`)).map(({ id }) => id)).toEqual(["frame-2"]);
    expect(await host.lines("future=1")).toMatchObject([{ id: "frame-1", clockAheadMs: Date.parse(last) - now }]);
    expect(await host.metric("boxwright_host_future_total")).toBe(1);
    expect(await host.metric("boxwright_host_latency_seconds_count")).toBe(2);
    await host.end();
  });
});
