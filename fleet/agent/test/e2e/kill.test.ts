/** SIGKILL in the middle, many times: what was acknowledged stays, and nothing is missing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { MODEL } from "../support/echo.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";

const KILLS = 20;
const PHOTOS = 1500;

it(`loses no photo of ${PHOTOS} over ${KILLS} kills; what comes twice has the same id`, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  await writePhotos(join(folder, "photos"), PHOTOS);
  const host = await new FakeHost().start();
  onTestFinished(() => host.stop());
  // Answers take a while, so that packets are on their way and in the spool when the process dies.
  host.answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, 4));
    return null;
  };
  const path = writeSettings(folder, {
    device: "/devices/../7",
    state: "state",
    network: { model: MODEL, output_format: "detection" },
    sources: [{ kind: "folder", camera: "../door", path: "photos" }],
    sinks: [{ kind: "http", url: host.url }],
    log: "warn",
  });
  const progress: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const agent = startProcess([path]);
    const before = host.stored.size;
    const target = Math.ceil((PHOTOS * 0.9 * (kill + 1)) / KILLS);
    let isOver = false;
    void agent.ended.then(() => (isOver = true));
    while (host.stored.size < target && !isOver) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(isOver, "the agent ended before it was killed").toBe(false);
    agent.kill("SIGKILL");
    expect((await agent.ended).signal).toBe("SIGKILL");
    progress.push(host.stored.size - before);
  }
  const { code, text } = await startProcess([path]).ended;
  expect(text).toContain("0 failed, 0 lost");
  expect(code).toBe(0);
  // One packet for each photo: the host counts by source and id.
  expect(host.stored.size).toBe(PHOTOS);
  const edges = new Map<number, number>();
  for (const { detections } of host.stored.values()) {
    const edge = Math.round(detections![0]!.x_min * 255);
    edges.set(edge, (edges.get(edge) ?? 0) + 1);
  }
  for (let edge = 0; edge < 200; edge++)
    expect(edges.get(edge), `photos with edge ${edge}`).toBe(Math.floor(PHOTOS / 200) + (edge < PHOTOS % 200 ? 1 : 0));
  console.log(
    `${KILLS} kills, ${PHOTOS} photos: 0 lost, ${host.duplicates} sent twice; between kills: ${progress.join(" ")}`,
  );
});
