/** The routes of what was seen. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestHost, testHost } from "../support/host.ts";
import { decoder, detectionPacket, outputsOf, timeOf } from "../support/frames.ts";

let host: TestHost;
const place = "source=/devices/1&subject=door";
const get = async (path: string): Promise<{ status: number; body: any }> => {
  const answer = await fetch(host.url + path);
  return { status: answer.status, body: await answer.json() };
};

beforeAll(async () => {
  host = await testHost();
  for (const n of [0, 1, 2]) await host.post(detectionPacket(n));
  // A clock that is wrong by years does not stand first.
  await host.post(detectionPacket(3, { subject: "wrong", time: "2090-01-01T00:00:00Z" }));
});
afterAll(() => host.end());

test("a timeline counts the frames of each label", async () => {
  const { body } = await get(`/v1/timeline?${place}&unit=day`);
  const own = [0, 1, 2].flatMap((n) => decoder.decode(outputsOf(n)).toArray());
  const dogs = own.filter(({ label }) => label === "dog");
  expect(body.unit).toBe("day");
  expect(body.spans.map(({ start, label }: any) => [start, label])).toEqual([
    ["2026-01-01T00:00:00Z", null],
    ["2026-01-01T00:00:00Z", "cat"],
    ["2026-01-01T00:00:00Z", "dog"],
  ]);
  expect(body.spans[2]).toMatchObject({ frames: 3, detections: dogs.length });
  expect(body.spans[2].best).toBeCloseTo(Math.max(...dogs.map(({ confidence }) => confidence)), 5);
});

test("events name their camera, and frames are stepped through by label", async () => {
  const { body } = await get("/v1/seen?label=dog");
  expect(body).toMatchObject({ labels: ["cat", "dog"], isWhole: true });
  expect(body.events).toMatchObject([
    { source: "/devices/1", subject: "door", label: "dog", first: "2026-01-01T00:00:00Z", frames: 3 },
  ]);
  const lines = await host.lines(`${place}&label=dog&before=${timeOf(2).toISOString()}`);
  expect(lines.map(({ id }) => id)).toEqual(["frame-1", "frame-0"]);
  const [next] = await host.lines(`${place}&after=${lines[0].cursor}&limit=1`);
  expect(next.id).toBe("frame-2");
});

test.each([
  ["/v1/timeline?source=a", "source, subject: got one or none"],
  [`/v1/timeline?${place}&unit=week`, "expected one of minute, 10 minutes, hour, day"],
  [`/v1/timeline?${place}&from=noon`, 'from: got "noon"'],
  ["/v1/seen?limit=0", "limit: got"],
  ["/v1/detections?label=dog", "label: got no source or subject"],
  ["/v1/detections?before=noon", 'before: got "noon"'],
  ["/v1/detections?before=2026-01-01T00:00:00Z&after=2026-01-01T00:00:00Z", "after, before: got both"],
])("%s is refused", async (path, message) => {
  const { status, body } = await get(path);
  expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
});
