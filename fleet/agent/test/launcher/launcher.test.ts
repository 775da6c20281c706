import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { mainOf, readState, writeState } from "../../src/launcher/launch-state.ts";
import { Launcher } from "../../src/launcher/launcher.ts";
import { temporaryFolder } from "../support/folder.ts";

const FAILED = { version: "1.0.5", id: "e", code: "ended", message: "it ended" };

function setUp() {
  const state = temporaryFolder();
  const versions = join(state, "versions");
  const make = (name: string): void => {
    const main = mainOf(join(versions, name));
    mkdirSync(dirname(main), { recursive: true });
    writeFileSync(main, "");
  };
  const open = (version: string) =>
    new Launcher({ state, version, args: [], main: "", healthy: 1, write: () => undefined });
  return { versions, make, open };
}

it("deletes the versions that a power cut left beside the current one and the one on trial", () => {
  const { versions, make, open } = setUp();
  for (const name of ["1.1.0", "1.2.0", "1.3.0", ".new-1.4.0"]) make(name);
  const trial = { version: "1.3.0", id: "t", tries: 1, expectsFrames: false };
  writeState(versions, { current: { version: "1.2.0", id: "c" }, trial, failed: FAILED });
  open("1.0.0");
  expect(readdirSync(versions).sort()).toEqual(["1.2.0", "1.3.0", "launcher.json"]);
});

it("runs the installed version if that is newer, or if the current one or the state is gone", () => {
  const { versions, make, open } = setUp();
  make("1.2.0");
  writeState(versions, { current: { version: "1.2.0", id: "c" }, trial: null, failed: FAILED });
  open("1.2.0");
  expect(readState(versions)).toEqual({ current: null, trial: null, failed: FAILED });
  expect(readdirSync(versions)).toEqual(["launcher.json"]);
  writeState(versions, { current: { version: "1.2.0", id: "c" }, trial: null, failed: null });
  expect(readState(versions).current).toBeNull();
  writeFileSync(join(versions, "launcher.json"), '{"current": {"ver');
  expect(readState(versions)).toEqual({ current: null, trial: null, failed: null });
});
