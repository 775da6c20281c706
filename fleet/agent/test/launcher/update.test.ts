/** Updates of the agent by the launcher: the built command, a small hub, and kills at any moment. */
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { drawRandom } from "boxwright-service/testing/random";
import { sleep, until } from "boxwright-service/testing/wait";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG, MODEL } from "../support/echo.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";
import { ADOPT_KEY, FakeHub } from "../support/hub.ts";
import { writeSettings } from "../support/process.ts";
import { makeArchive, makeRelease, newKey } from "../support/release.ts";

const LAUNCH = fileURLToPath(new URL("../../dist/cli/launch.js", import.meta.url));
/** A trial of three seconds: heartbeats come each second. */
const HEALTHY = 0.05;
const random = drawRandom();

async function setUp() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "photos"));
  const hub = await new FakeHub().start();
  onTestFinished(() => hub.stop());
  hub.interval = 1;
  const key = newKey();
  const settings = writeSettings(folder, {
    state: "state",
    hub: { url: hub.url, adoptKey: ADOPT_KEY, name: "Front door" },
    update: { keys: [key.text], healthyMinutes: HEALTHY },
    sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    sinks: [{ kind: "ndjson", path: "out.ndjson" }],
  });
  let child: Child | null = null;
  /** Kills everything at once, as a power cut does. */
  const cut = async (): Promise<void> => {
    if (child === null) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await child.ended;
    child = null;
  };
  onTestFinished(cut);
  return {
    ...{ folder, hub, key, cut, state: join(folder, "state") },
    launch(): Child {
      child = new Child([process.execPath, LAUNCH, settings], { detached: true, env: process.env });
      return child;
    },
    /** Waits for a heartbeat of this version that comes after the call. */
    async runs(version: string): Promise<void> {
      const from = hub.beats.length;
      await until(() => hub.beats.slice(from).some((beat) => beat.version === version), `heartbeats of ${version}`);
    },
    async reported(etag: string) {
      await until(() => hub.reports.some((report) => report.version === etag), `a report on ${etag}`);
      return hub.reports.filter((report) => report.version === etag).at(-1)!;
    },
  };
}

const sizesIn = (folder: string): number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).size);

const versionsOf = (state: string): string[] =>
  readdirSync(join(state, "versions")).filter((name) => name !== "launcher.json");

describe("an update", () => {
  it("is fetched from where it was cut, tried, kept, reported, and runs after a restart", async () => {
    const { hub, key, cut, state, launch, runs, reported } = await setUp();
    const release = makeRelease(key, "1.1.0", makeArchive("1.1.0"));
    let cuts = 0;
    hub.sendModel = (response, bytes) => {
      if (cuts++ > 0) return void response.end(bytes);
      response.write(bytes.subarray(0, 1000));
      // The connection breaks once the agent has what was sent.
      void until(() => sizesIn(join(state, "archives")).includes(1000)).then(() => response.destroy());
    };
    launch();
    await runs("1.0.0");
    hub.agent = release;
    await runs("1.1.0");
    expect(await reported(release.etag)).toMatchObject({ state: "applied" });
    expect(hub.ranges).toEqual(["", "bytes=1000-"]);
    expect(versionsOf(state)).toEqual(["1.1.0"]);
    expect(readdirSync(join(state, "archives"))).toEqual([]);
    await cut();
    launch();
    await runs("1.1.0");
    // The next one displaces it.
    const next = makeRelease(key, "1.10.0", makeArchive("1.10.0"));
    hub.agent = next;
    expect(await reported(next.etag)).toMatchObject({ state: "applied" });
    await until(() => versionsOf(state).join() === "1.10.0", "one version");
  });

  it("that anybody can forge or play again is refused, with the reason, and the running version stays", async () => {
    const { hub, key, launch, runs, reported } = await setUp();
    const archive = makeArchive("1.1.0");
    const good = makeRelease(key, "1.1.0", archive);
    const text = good.signed.release;
    const cases = {
      "signed by a stolen hub's own key": [makeRelease(newKey(), "1.1.0", archive), "signature"],
      "changed after it was signed": [
        { ...good, etag: "agent:1", signed: { ...good.signed, release: text.replace("1.1.0", "1.1.1") } },
        "signature",
      ],
      "an old version, played again": [makeRelease(key, "0.9.9", makeArchive("0.9.9")), "older"],
      "other bytes under the signed hash": [
        { ...makeRelease(key, "1.2.0", archive, { sha256: "0".repeat(64) }), archive },
        "archive",
      ],
      "another version in the archive": [makeRelease(key, "1.3.0", archive), "archive"],
      "for another processor": [makeRelease(key, "1.1.0", archive, { platform: "linux-mips" }), "platform"],
    } as const;
    hub.sendModel = (response, bytes) => void response.end(bytes);
    launch();
    await runs("1.0.0");
    for (const [what, [release, code]] of Object.entries(cases)) {
      // The small hub finds an archive by its hash, or else sends the application's model.
      hub.give({ etag: "doors@1", model: archive, config: CONFIG });
      hub.agent = release;
      expect([what, (await reported(release.etag)).error?.code]).toEqual([what, code]);
    }
    await runs("1.0.0");
  });

  it.each([
    [
      "ends at once",
      'console.error("cannot find libfoo"); process.exit(3);',
      "ended",
      /ended with 3: cannot find libfoo/,
    ],
    ["hangs", "setInterval(() => undefined, 1000);", "silent", /told the launcher nothing/],
    [
      "cannot reach the hub",
      'setInterval(() => process.send({ kind: "told", beats: 0, sinceBeat: 1e9, frames: 5, isPaused: false }), 100);',
      "no_heartbeat",
      /acknowledged no heartbeats/,
    ],
    [
      "takes no frames",
      'setInterval(() => process.send({ kind: "told", beats: 9, sinceBeat: 1, frames: 0, isPaused: false }), 100);',
      "no_frames",
      /took no frame, which the version before it did/,
    ],
  ])(
    "to a version that %s goes back to the one before, says why, and is not tried again",
    async (_, main, code, why) => {
      const { folder, hub, key, cut, state, launch, runs, reported } = await setUp();
      hub.give({ etag: "doors@1", model: readFileSync(MODEL), config: CONFIG });
      await writePhotos(join(folder, "photos"), 2);
      launch();
      await until(() => (hub.beats.at(-1)?.frames ?? 0) > 0, "frames");
      const release = makeRelease(key, "1.1.0", makeArchive("1.1.0", main));
      hub.agent = release;
      const report = await reported(release.etag);
      expect(report).toMatchObject({ state: "failed", error: { code, message: expect.stringMatching(why) } });
      await runs("1.0.0");
      await cut();
      launch();
      await runs("1.0.0");
      expect(versionsOf(state)).toEqual([]);
      expect(hub.ranges.filter((range) => range === "")).toHaveLength(2);
    },
  );

  it(
    `leaves one version that runs, whatever moment of ${KILLS} the power goes`,
    async () => {
      const { hub, key, cut, state, launch, runs, reported } = await setUp();
      const seen: string[] = [];
      // A download takes a while, so that some cuts hit it.
      hub.sendModel = (response, bytes) => {
        const send = (at: number): void => {
          if (at >= bytes.length) return void response.end();
          response.write(bytes.subarray(at, at + 20_000));
          setTimeout(() => send(at + 20_000), 20);
        };
        send(0);
      };
      launch();
      await runs("1.0.0");
      let running = "1.0.0";
      let minor = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        const wanted = `1.${++minor}.0`;
        const release = makeRelease(key, wanted, makeArchive(wanted));
        hub.agent = release;
        await sleep(random() * 9000);
        const before = readdirSync(state).includes("versions")
          ? readFileSync(join(state, "versions/launcher.json"), { encoding: "utf8", flag: "a+" })
          : "";
        await cut();
        launch();
        // One of the two runs, and the update comes to its end from wherever it was.
        const from = hub.beats.length;
        await until(() => hub.beats.length > from, "a heartbeat after the cut");
        expect([running, wanted]).toContain(hub.beats.at(-1)!.version);
        const phase = before.includes(`"trial": {`) ? "trial" : before.includes(wanted) ? "kept" : "fetch or unpack";
        seen.push(phase);
        expect(await reported(release.etag)).toMatchObject({ state: "applied" });
        await until(() => versionsOf(state).join() === wanted, `only ${wanted}`);
        running = wanted;
      }
      const count = (phase: string): number => seen.filter((one) => one === phase).length;
      console.log(
        `${KILLS} kills: ${count("fetch or unpack")} while fetching or unpacking, ${count("trial")} on trial, ${count("kept")} when kept`,
      );
    },
    KILLS_TIMEOUT,
  );
});
