import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createMetrics } from "../../src/core/metrics.ts";
import { Previews, cameraKey } from "../../src/live/previews.ts";
import { testHost } from "../support/host.ts";

const photo = new Uint8Array(
  readFileSync(fileURLToPath(new URL("../../../../test/fixtures/photos/chelsea.png", import.meta.url))),
);

/** Returns the header of a PNG of a size, and nothing else: a picture bomb needs no more. */
function png(width: number, height: number): Uint8Array {
  const bytes = photo.slice(0, 64);
  new DataView(bytes.buffer).setUint32(16, width);
  new DataView(bytes.buffer).setUint32(20, height);
  return bytes;
}

const headers = (id: string, subject = "door"): Record<string, string> => ({
  "ce-source": "/devices/1",
  "ce-subject": encodeURIComponent(subject),
  "ce-id": encodeURIComponent(id),
  "ce-time": "2026-01-01T00:00:00Z",
});

test("pictures are kept by camera, the last one of each, and refused when too large, too many or none", async () => {
  let now = 1e12;
  const host = await testHost({ maxPreviewBytes: 400_000, previewsPerSecond: 2 }, () => now);
  const post = (body: Uint8Array, given: Record<string, string>): Promise<Response> =>
    fetch(`${host.url}/v1/previews`, { method: "POST", body: body as Uint8Array<ArrayBuffer>, headers: given });
  const statusOf = async (body: Uint8Array, given: Record<string, string>): Promise<number> => {
    now += 1000;
    return (await post(body, given)).status;
  };
  expect(await statusOf(photo, headers("a/../b é"))).toBe(204);
  const shown = await fetch(`${host.url}/pictures/${cameraKey("/devices/1", "door")}`);
  expect([shown.status, shown.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(new Uint8Array(await shown.arrayBuffer())).toEqual(photo);
  // Too soon, then in time.
  expect((await post(photo, headers("b"))).status).toBe(429);
  expect(await statusOf(photo, headers("b"))).toBe(204);
  // A picture bomb: few bytes, 4 GB of pixels.
  expect(await statusOf(png(60_000, 60_000), headers("c"))).toBe(400);
  expect(await statusOf(png(2048, 2049), headers("c"))).toBe(400);
  expect(await statusOf(png(2048, 2048), headers("c"))).toBe(204);
  expect(await statusOf(new TextEncoder().encode("<svg onload='alert(1)'/>"), headers("d"))).toBe(400);
  expect(await statusOf(new Uint8Array(0), headers("d"))).toBe(400);
  expect(await statusOf(new Uint8Array(400_001), headers("d"))).toBe(413);
  for (const wrong of [
    { "ce-id": "" },
    { "ce-time": "today" },
    { "ce-source": "%zz" },
    { "ce-id": "%00" },
    { "ce-subject": "x".repeat(600) },
  ])
    expect(await statusOf(photo, { ...headers("e"), ...wrong }), JSON.stringify(wrong)).toBe(400);
  expect(await host.metric('boxwright_host_refused_total{reason="picture",way="http"}')).toBe(4);
  await host.end();
});

test("memory of previews is bounded: the camera that was silent longest goes", () => {
  const metrics = createMetrics();
  let now = 0;
  const limits = { maxPreviewBytes: 1e9, maxPreviewPixels: 1e9, previewsPerSecond: 1, maxCameras: 3 };
  const previews = new Previews(limits, metrics, () => (now += 1000));
  let taken = 0;
  const take = (subject: string, bytes = photo, isRecorded = false): void =>
    previews.take(
      { source: "s", subject, id: String(taken++), time: "2026-01-01T00:00:00.000000000Z", isRecorded },
      bytes,
    );
  const count = (subject: string): number => previews.get(cameraKey("s", subject)).length;
  const kept = (): string[] => ["a", "b", "c", "d"].filter((subject) => count(subject) > 0);
  for (const subject of ["a", "b", "c", "a", "d"]) take(subject);
  expect(kept()).toEqual(["a", "c", "d"]);
  const large = new Uint8Array(50 * 2 ** 20);
  large.set(photo);
  take("a", large);
  take("b", large);
  expect(kept()).toEqual(["b"]);
  expect(metrics.totals.previewsDropped).toBe(4);
  // One picture of a live camera stays, and the last eight of a recorded one.
  for (let i = 0; i < 12; i++) take("c", photo, true);
  expect([count("b"), count("c")]).toEqual([1, 8]);
  const numbers = previews.get(cameraKey("s", "c")).map(({ number }) => number);
  expect(numbers).toEqual([...numbers].sort((one, other) => other - one));
  take("c");
  expect(count("c")).toBe(1);
});
