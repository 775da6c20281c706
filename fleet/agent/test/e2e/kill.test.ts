/** SIGKILL in the middle, many times: what was acknowledged stays, and nothing is missing. */
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { expect, it, onTestFinished } from "vitest";
import { MODEL } from "../support/echo.ts";
import { photoFolder } from "../support/folder.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";

interface Case {
  readonly what: string;
  readonly kills: number;
  readonly photos: number;
  readonly spool: object;
}

const CASES: readonly Case[] = [
  { what: "one segment", kills: 2 * KILLS, photos: KILLS * 150, spool: {} },
  // A segment holds four packets: the spool deletes one every few photos, while it writes others.
  { what: "segments that come and go", kills: KILLS, photos: KILLS * 60, spool: { maxBytes: 2 ** 16 } },
];

it.each(CASES)(
  "loses no photo of $photos over $kills kills, with $what",
  async ({ what, kills, photos, spool }) => {
    const host = await new FakeHost().start();
    onTestFinished(() => host.stop());
    const { folder, settings } = await photoFolder(photos, { kind: "http", url: host.url }, null);
    // Answers take a while, so that packets are on their way and in the spool when the process dies.
    host.answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 4));
      return null;
    };
    const path = writeSettings(folder, {
      ...settings,
      device: "/devices/../7",
      network: { model: MODEL, output_format: "detection" },
      sources: [{ kind: "folder", camera: "../door", path: "photos" }],
      spool,
    });
    const progress: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const agent = startProcess([path]);
      const before = host.stored.size;
      const target = Math.ceil((photos * 0.9 * (kill + 1)) / kills);
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
    expect(host.stored.size).toBe(photos);
    const edges = new Map<number, number>();
    for (const { detections } of host.stored.values()) {
      const edge = Math.round(detections![0]!.x_min * 255);
      edges.set(edge, (edges.get(edge) ?? 0) + 1);
    }
    for (let edge = 0; edge < 200; edge++)
      expect(edges.get(edge) ?? 0, `photos with edge ${edge}`).toBe(
        Math.floor(photos / 200) + (edge < photos % 200 ? 1 : 0),
      );
    console.log(
      `${kills} kills, ${photos} photos, ${what}: 0 lost, ${host.duplicates} sent twice; between kills: ${progress.join(" ")}`,
    );
  },
  KILLS_TIMEOUT,
);
