/** A power cut loses no named file: files are flushed before they get their names, and the names after that. */
import { fsyncSync, linkSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { beforeEach, expect, it, vi } from "vitest";
import { replaceFile } from "../../src/core/files.ts";
import { ownId } from "../../src/core/ids.ts";
import { reserveSequences } from "../../src/core/starts.ts";
import { writeState } from "../../src/launcher/launch-state.ts";
import { ConfigStore } from "../../src/sinks/configs.ts";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const spied = {
    fsyncSync: vi.fn(fs.fsyncSync),
    renameSync: vi.fn(fs.renameSync),
    linkSync: vi.fn(fs.linkSync),
  };
  return { ...fs, ...spied, default: { ...fs, ...spied } };
});
const [sync, rename, link] = [vi.mocked(fsyncSync), vi.mocked(renameSync), vi.mocked(linkSync)];
beforeEach(() => void vi.clearAllMocks());

it.each([
  ["a replaced file", (folder: string) => replaceFile(join(folder, "identity.json"), "{}")],
  ["the id of the device", (folder: string) => void ownId(folder)],
  ["the count of starts", (folder: string) => void reserveSequences(folder)],
  ["a config", (folder: string) => new ConfigStore(folder).store({ hash: "0123456789abcdef", json: "{}" })],
  [
    "the version on trial",
    (folder: string) => writeState(folder, { good: "1.0.0", trial: null, failed: null } as never),
  ],
])("%s is flushed, gets its name, and the name is flushed", (_name, write) => {
  const { path, remove } = temporaryFolder();
  write(path);
  const [before, after] = sync.mock.invocationCallOrder;
  const calls = [...rename.mock.calls, ...link.mock.calls];
  const [named] = [...rename.mock.invocationCallOrder, ...link.mock.invocationCallOrder];
  expect(calls).toHaveLength(1);
  expect(sync).toHaveBeenCalledTimes(2);
  expect(before! < named! && named! < after!).toBe(true);
  expect(readFileSync(calls[0]![1] as string, "utf8")).not.toBe("");
  remove();
});
