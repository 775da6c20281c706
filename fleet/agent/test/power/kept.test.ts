/** A power cut loses no refused packet and no snap that is stored, and leaves none that cannot be read. */
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { mark, recordCuts, writeTree } from "boxwright-service/testing/power";
import { until } from "boxwright-service/testing/wait";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import type { HubClient } from "../../src/hub/client.ts";
import { Snaps } from "../../src/hub/snaps.ts";
import type { Network } from "../../src/network/network.ts";
import { sha256 } from "../../src/core/ids.ts";
import { RefusedFolder } from "../../src/sinks/refused.ts";

vi.mock("node:fs", async (original) => (await import("boxwright-service/testing/power")).recordFs(await original()));

it("of refused packets", async () => {
  const { path } = temporaryFolder();
  const root = mkdtempSync(join(path, "device-"));
  const packets = ["one", "two"].map((text) => Buffer.from(text.repeat(500)));
  const states = await recordCuts(
    root,
    () => {
      const refused = new RefusedFolder(root, 2 ** 20);
      for (const packet of packets) {
        refused.store(packet, "north", "no such config");
        mark("stored");
      }
    },
    1e6,
  );
  expect(states.length).toBeGreaterThan(10);
  for (const { tree, marks } of states) {
    const cut = mkdtempSync(join(path, "cut-"));
    writeTree(cut, tree);
    const refused = new RefusedFolder(cut, 2 ** 20);
    const found = refused.list().map((file) => Buffer.from(refused.read(file)));
    expect(refused.list().every(({ reason }) => reason === "no such config")).toBe(true);
    for (const packet of found) expect(packets).toContainEqual(packet);
    for (const packet of packets.slice(0, marks.length)) expect(found).toContainEqual(packet);
  }
});

const NEVER = new AbortController().signal;

const snapsIn = (state: string): Snaps =>
  new Snaps({
    ...{ state, maxBytes: 2 ** 20, log: pino({ level: "silent" }) },
    ...{ network: {} as Network, rules: () => [], application: () => null },
  });

/** Sends the waiting snaps of a folder to a hub that wants all files. Returns how many arrived. */
async function sendAll(state: string): Promise<number> {
  let [arrived, wanted] = [0, ""];
  const hub = {
    ask: async ({ path, body }: { path: string; body: unknown }) => {
      if (path !== "/device/snaps") expect(sha256(body as Uint8Array)).toBe(wanted);
      else wanted = (body as { files: { sha256: string }[] }).files[0]!.sha256;
      if (path !== "/device/snaps") arrived++;
      return { status: 200, json: { snap_id: "1", missing: path === "/device/snaps" ? [wanted] : [] } };
    },
  };
  const snaps = snapsIn(state);
  while (readdirSync(join(state, "snaps")).length > 0) await snaps.sendNext(hub as unknown as HubClient, NEVER);
  return arrived;
}

it("of snaps", async () => {
  const { path } = temporaryFolder();
  const root = mkdtempSync(join(path, "device-"));
  mkdirSync(join(root, "state"));
  const image = { width: 8, height: 8, data: new Uint8Array(192).fill(90) };
  const store = async (): Promise<void> => {
    const snaps = snapsIn(join(root, "state"));
    snaps.disagree("rollout", { about: { id: "1", source: "door" }, image } as never, {
      count: 0,
      changes: [],
      onlyOld: [],
      onlyNew: [],
    });
    await until(() => readdirSync(join(root, "state", "snaps")).some((name) => name.endsWith(".json")));
    mark("stored");
  };
  const states = await recordCuts(root, store, 1e6);
  expect(states.length).toBeGreaterThan(5);
  for (const { tree, marks } of states) {
    const cut = mkdtempSync(join(path, "cut-"));
    writeTree(cut, tree);
    expect(await sendAll(join(cut, "state"))).toBeGreaterThanOrEqual(marks.length);
  }
});
