/** A power cut loses no file of the state folder that is written, and leaves none half written. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { mark, recordCuts, writeTree } from "boxwright-service/testing/power";
import { expect, it, vi } from "vitest";
import { replaceFile } from "../../src/core/files.ts";
import { ownId } from "../../src/core/ids.ts";
import { reserveSequences } from "../../src/core/starts.ts";
import { IdentityFile } from "../../src/hub/identity.ts";
import { NOTHING, writeState } from "../../src/launcher/launch-state.ts";
import { ConfigStore } from "../../src/sinks/configs.ts";

vi.mock("node:fs", async (original) => (await import("boxwright-service/testing/power")).recordFs(await original()));

const IDENTITY = { hub: "http://hub", deviceId: "7", previous: null, name: "door", team: "north", token: null };

it.each<[string, string, (folder: string, turn: number) => void]>([
  ["a replaced file", "note.json", (folder, turn) => replaceFile(join(folder, "note.json"), `{"turn":${turn}}`)],
  ["the id of the device", "device", (folder) => void ownId(folder)],
  ["the count of starts", "boots", (folder) => void reserveSequences(folder)],
  [
    "the identity at the hub",
    "hub.json",
    (folder, turn) => new IdentityFile(folder).write({ ...IDENTITY, credential: `secret ${turn}` }),
  ],
  [
    "a config",
    "configs/0123456789abcdef.json",
    (folder) => new ConfigStore(folder).store({ hash: "0123456789abcdef", json: '{"a":1}' }),
  ],
  ["the version that is kept", "launcher.json", (folder) => writeState(folder, NOTHING)],
])("%s is whole, and there once it is written", async (_name, file, write) => {
  const { path } = temporaryFolder();
  const root = mkdtempSync(join(path, "device-"));
  const place = join(root, "state");
  mkdirSync(place);
  const written = [""];
  const run = (): void => {
    for (const turn of [1, 2]) {
      write(place, turn);
      written.push(readFileSync(join(place, file), "utf8"));
      mark(String(turn));
    }
  };
  const states = await recordCuts(root, run, 1e6);
  expect(states.length).toBeGreaterThan(4);
  for (const { tree, marks } of states) {
    const cut = mkdtempSync(join(path, "cut-"));
    writeTree(cut, tree);
    const found = existsSync(join(cut, "state", file)) ? readFileSync(join(cut, "state", file), "utf8") : "";
    expect(written.slice(marks.length), `after ${marks.length} writes`).toContain(found);
  }
});
