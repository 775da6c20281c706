/** A power cut at any moment loses no packet that the spool has accepted and flushed. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { mark, recordCuts, writeTree, type CutState } from "boxwright-service/testing/power";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { describe, expect, it, vi } from "vitest";
import { Spool } from "../../src/spool/spool.ts";

vi.mock("node:fs", async (original) => (await import("boxwright-service/testing/power")).recordFs(await original()));

/** Largest number of states after a first cut, and after a second one. TEST_CUTS=all tries every state. */
const [FIRST, SECOND] = process.env["TEST_CUTS"] === "all" ? [1e6, 8] : [45, 5];
const SINKS = ["north", "south"];

type Policy = "each" | "second";
/** Opens the spool of a state folder, which the spool makes. */
const open = (root: string, fsync: Policy): Spool =>
  new Spool(join(root, "state", "spool"), SINKS, { fsync, maxBytes: 2 ** 16, policy: "block", refusedBytes: 0 });

const packet = (name: string): Buffer => Buffer.from(`packet ${name} `.padEnd(1500, "."));
const nameOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString().split(" ")[1]!;

/** Accepts packets. With "second", they are safe once the spool is closed. */
async function accept(spool: Spool, names: readonly string[], fsync: Policy): Promise<void> {
  for (const name of names) {
    expect(await spool.append(packet(name))).toBe(true);
    if (fsync === "each") mark(`accepted ${name}`);
  }
}

/** Delivers the next packets of a sink, all of them by default. Returns their names. */
async function deliver(spool: Spool, sink: string, most = Infinity): Promise<string[]> {
  const [reader, names] = [spool.reader(sink), [] as string[]];
  while (names.length < most) {
    // A reader that has a packet gives it at once, before the end of the wait.
    const ended = new AbortController();
    setImmediate(() => ended.abort());
    const next = await reader.next(ended.signal);
    if (next === null) break;
    names.push(nameOf(next.bytes));
    mark(`delivered ${nameOf(next.bytes)} to ${sink}`);
    reader.acknowledge(next.index);
  }
  return names;
}

/** Opens the spool after a cut, and compares what it has with the marks. Returns the folder. */
async function check({ tree, marks }: CutState, folder: string, fsync: Policy, earlier: readonly string[] = []) {
  const root = mkdtempSync(join(folder, "cut-"));
  writeTree(root, tree);
  const spool = open(root, fsync);
  const said = [...earlier, ...marks];
  for (const sink of SINKS) {
    const got = new Set(await deliver(spool, sink));
    const due = said.filter((text) => text.startsWith("accepted ")).map((text) => text.split(" ")[1]!);
    const lost = due.filter((name) => !got.has(name) && !said.includes(`delivered ${name} to ${sink}`));
    expect(lost, `lost for ${sink} after: ${said.join(", ")}`).toEqual([]);
  }
  spool.close();
}

/** Three runs of an agent, with segments that are filled, passed by both sinks, and deleted. */
async function runAgent(root: string, fsync: Policy): Promise<void> {
  let n = 0;
  for (const [south, north] of [
    [1, 4],
    [6, 3],
    [4, 4],
  ]) {
    const spool = open(root, fsync);
    const names = Array.from({ length: 5 }, () => `p${n++}`);
    await accept(spool, names, fsync);
    await deliver(spool, "north", north);
    await deliver(spool, "south", south);
    spool.close();
    if (fsync === "second") names.forEach((name) => mark(`accepted ${name}`));
  }
}

describe.each(["each", "second"] as const)("a spool that flushes: %s", (fsync) => {
  it("keeps what it accepted through a power cut, and through a second one", async () => {
    const { path } = temporaryFolder();
    const root = join(path, "device");
    mkdirSync(root);
    const states = await recordCuts(root, () => runAgent(root, fsync), FIRST);
    expect(states.length).toBeGreaterThan(40);
    for (const state of states) {
      await check(state, path, fsync);
      // The agent starts again, flushes each packet, and the power fails once more.
      const again = mkdtempSync(join(path, "again-"));
      writeTree(again, state.tree);
      const startAgain = async (): Promise<void> => {
        const spool = open(again, "each");
        await accept(spool, ["q0", "q1"], "each");
        await deliver(spool, "north", 1);
        spool.close();
      };
      for (const second of await recordCuts(again, startAgain, SECOND)) await check(second, path, "each", state.marks);
    }
  });
});
