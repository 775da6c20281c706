/** A power cut at any moment of an update leaves a version that runs, and never an older one than was kept. */
import { EventEmitter } from "node:events";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Release } from "boxwright-service/release";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { mark, recordCuts, writeTree } from "boxwright-service/testing/power";
import { expect, it, vi } from "vitest";
import type { HubClient } from "../../src/hub/client.ts";
import { Models } from "../../src/hub/models.ts";
import { unpack } from "../../src/hub/unpack.ts";
import { readState, versionsIn } from "../../src/launcher/launch-state.ts";
import { Launcher } from "../../src/launcher/launcher.ts";

vi.mock("node:fs", async (original) => (await import("boxwright-service/testing/power")).recordFs(await original()));
vi.mock("node:fs/promises", async (original) =>
  (await import("boxwright-service/testing/power")).recordPromises(await original()),
);
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>();
  return { ...real, execFile: vi.fn(), spawn: (_node: string, words: string[]) => starts.shift()!(words.at(-1)!) };
});

/** Largest number of states. TEST_CUTS=all tries every state. */
const MOST = process.env["TEST_CUTS"] === "all" ? 1e6 : 100;
const INSTALLED = "/usr/lib/node_modules/boxwright-agent/dist/cli/main.js";
const NEVER = new AbortController().signal;
/** Files of a version, from its folder. */
const FILES = ["package.json", "dist/cli/main.js", "dist/agent.js"].map(
  (name) => `node_modules/boxwright-agent/${name}`,
);
const contentOf = (file: string, version: string): string =>
  file.endsWith("package.json") ? JSON.stringify({ version }) : `// ${file} of ${version}\n`.repeat(300);

/** A process of the agent, for the launcher. */
class Process extends EventEmitter {
  readonly stderr = Object.assign(new EventEmitter(), { setEncoding: () => this.stderr });
  kill(): boolean {
    queueMicrotask(() => this.emit("close", 0, null));
    return true;
  }
}
/** Behaviours of the next starts of a process. Each takes the path of the command. */
const starts: ((main: string) => Process)[] = [];

function makeArchive(folder: string, version: string): Buffer {
  const place = mkdtempSync(join(folder, "archive-"));
  for (const file of FILES) {
    mkdirSync(dirname(join(place, file)), { recursive: true });
    writeFileSync(join(place, file), contentOf(file, version));
  }
  symlinkSync("boxwright-agent/dist/cli/main.js", join(place, "node_modules/command"));
  return execFileSync("tar", ["-czf", "-", "-C", place, "node_modules"]);
}

/** Unpacks as `tar` does, by functions that record what they change. */
function unpackTo(folder: string, archive: string, scratch: string): void {
  const place = mkdtempSync(join(scratch, "tar-"));
  execFileSync("tar", ["-xzf", archive, "-C", place]);
  const copy = (from: string, to: string): void => {
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isSymbolicLink()) symlinkSync("boxwright-agent/dist/cli/main.js", target);
      else if (entry.isFile()) writeFileSync(target, readFileSync(source));
      else {
        mkdirSync(target);
        copy(source, target);
      }
    }
  };
  copy(place, folder);
}

const launcherOf = (state: string): Launcher =>
  new Launcher({ state, args: [], main: INSTALLED, version: "1.0.0", healthy: 0, write: () => undefined });

/** Fetches, unpacks and tries a version, as the agent and its launcher do. */
async function update(state: string, archive: Buffer, version: string): Promise<void> {
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const release = { version, sha256, size: archive.length, name: "agent.tgz" } as Release;
  const launcher = launcherOf(state);
  // The hub's bytes come in two parts.
  const half = archive.length >> 1;
  const stream = async (_: unknown, read: (response: unknown) => Promise<void>): Promise<void> =>
    read({ status: 200, body: [archive.subarray(0, half), archive.subarray(half)] });
  const archives = new Models(state, "archives");
  await archives.fetch({ stream } as unknown as HubClient, release, NEVER);
  await unpack(archives.pathOf(release), versionsIn(state), release);
  archives.keepOnly(new Set());
  starts.push(
    () => {
      const agent = new Process();
      queueMicrotask(() => agent.emit("message", { kind: "switch", version, id: sha256 }));
      return agent;
    },
    () => {
      const agent = new Process();
      const told = { kind: "told", beats: 2, sinceBeat: 0, frames: 1, isPaused: false };
      queueMicrotask(() => agent.emit("message", told));
      const look = setInterval(() => {
        if (readState(versionsIn(state)).trial !== null) return;
        clearInterval(look);
        mark(version);
        launcher.end("SIGTERM");
      }, 5);
      return agent;
    },
  );
  expect(await launcher.run()).toBe(0);
}

/** Starts the launcher. Returns the version that it runs, all of whose files must be there. */
async function startVersion(state: string): Promise<string> {
  let version = "1.0.0";
  starts.push((main) => {
    if (main !== INSTALLED) {
      const folder = main.slice(0, main.indexOf("/node_modules/"));
      version = folder.split("/").at(-1)!;
      for (const file of FILES) expect(readFileSync(join(folder, file), "utf8"), file).toBe(contentOf(file, version));
      expect(readFileSync(join(folder, "node_modules/command"), "utf8")).toBe(contentOf(FILES[1]!, version));
    }
    const agent = new Process();
    agent.kill();
    return agent;
  });
  expect(await launcherOf(state).run()).toBe(0);
  return version;
}

it("leaves a version that runs, and updates after the cut", async () => {
  const { path } = temporaryFolder();
  vi.mocked(execFile).mockImplementation(((_: string, words: string[], done: (error: null) => void) => {
    unpackTo(words[3]!, words[1]!, path);
    done(null);
  }) as never);
  const archives = new Map(["1.1.0", "1.2.0"].map((version) => [version, makeArchive(path, version)]));
  const root = mkdtempSync(join(path, "device-"));
  const updateTwice = async (): Promise<void> => {
    for (const [version, archive] of archives) await update(join(root, "state"), archive, version);
  };
  const states = await recordCuts(root, updateTwice, MOST);
  expect(states.length).toBeGreaterThan(90);
  const ran = new Set<string>();
  for (const [i, { tree, marks }] of states.entries()) {
    const device = mkdtempSync(join(path, "cut-"));
    writeTree(device, tree);
    const state = join(device, "state");
    const version = await startVersion(state);
    ran.add(version);
    expect(version >= (marks.at(-1) ?? "1.0.0"), `${version} runs after ${marks.join(", ")} was kept`).toBe(true);
    // The hub still wants the newest version. A trial takes a quarter of a second, so only some states try.
    if (version === "1.2.0" || i % 15 !== 0 || readState(versionsIn(state)).trial !== null) continue;
    await update(state, archives.get("1.2.0")!, "1.2.0");
    expect(await startVersion(state)).toBe("1.2.0");
  }
  expect([...ran].sort()).toEqual(["1.0.0", "1.1.0", "1.2.0"]);
});
