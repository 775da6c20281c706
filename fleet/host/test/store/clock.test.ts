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
});
