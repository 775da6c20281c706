/** Live cameras: one over RTSP that dies and comes back, and one of V4L2. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Packet } from "boxwright";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONFIG, MODEL } from "../support/echo.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Reader, readerOf } from "../support/health.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";
import type { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { RtspCamera } from "../support/rtsp.ts";
import { hasFfmpeg, hasRtspServer } from "../support/tools.ts";

interface Running extends Reader {
  readonly agent: Child;
  readonly host: FakeHost;
}

/** Starts an agent that sends the tensors of one camera to a host. */
async function start(source: object, env: Record<string, string> = {}, folder = temporaryFolder()): Promise<Running> {
  const host = await new FakeHost().start();
  onTestFinished(() => host.stop());
  const config = { ...CONFIG, nn_config: { ...CONFIG.nn_config, output_format: "raw" } };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const path = writeSettings(folder, {
    device: "/devices/7",
    state: "state",
    network: { model: MODEL, config: "config.json" },
    sources: [{ camera: "door", ...source }],
    sinks: [{ kind: "http", url: host.url }],
    health: { port: 0 },
  });
  const agent = startProcess([path], env);
  return { agent, host, ...(await readerOf(agent)) };
}

/** Returns the red value of a frame, 0..1: the network gives red values back, the first one as pixels of 32. */
const redOf = ({ tensors }: Packet): number => (tensors[0]!.data as Float32Array)[0]! / 32;
const framesOf = (host: FakeHost): Packet[] => [...host.stored.values()].sort((a, b) => a.sequence! - b.sequence!);

const UP = 'boxwright_agent_source_up{camera="door"}';
const RESTARTS = 'boxwright_agent_source_restarts_total{camera="door"}';

describe.skipIf(!hasFfmpeg || !hasRtspServer)("a camera over RTSP", () => {
  it("is killed, with the host away, and comes back: it is found again, and no captured frame is lost", async () => {
    const camera = await RtspCamera.make();
    await camera.start(0xc86432);
    const { agent, host, health, metric, log } = await start({ kind: "rtsp", url: camera.url() });
    await until(() => host.stored.size >= 10, "ten frames");
    const processes = execFileSync("ps", ["-eo", "args"]).toString();
    expect(processes).toContain("ffmpeg -nostdin");
    expect(processes).not.toContain("user:secret");
    expect((await health()).code).toBe(200);
    expect(await metric(UP)).toBe(1);

    await host.stop();
    await until(async () => (await health()).spool.packets >= 10, "frames in the spool");
    const losses = (): Record<string, any>[] => log().filter(({ msg }) => String(msg).startsWith("camera lost"));
    const [lossesBefore, restarts] = [losses().length, await metric(RESTARTS)];
    await camera.kill();
    await until(async () => (await metric(RESTARTS)) >= restarts + 3, "three attempts");
    const away = await health();
    expect(away.code).toBe(503);
    expect(away.problems[0]).toMatch(/^camera door: .*Connection refused/s);
    expect(await metric(UP)).toBe(0);
    const lost = losses().slice(lossesBefore);
    // The end of the stream, or a reset, if the camera had not read all that was sent to it.
    expect(lost[0]!["msg"]).toMatch(/camera lost: (the camera ended the stream$|.*reset by peer)/s);
    // Each attempt waits twice as long, give or take a fifth.
    const waits = lost.slice(0, 3).map(({ retryMilliseconds }) => retryMilliseconds as number);
    for (const [i, expected] of [500, 1000, 2000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(expected * 0.9);
      expect(waits[i]).toBeLessThanOrEqual(expected * 1.1);
    }

    await camera.start(0x3264c8);
    await host.start();
    await until(async () => (await health()).code === 200, "the camera's return");
    expect(await metric(UP)).toBe(1);
    const before = (await health()).cameras[0].spooled as number;
    await until(() => host.stored.size >= before + 10, "frames after it");

    await camera.kill();
    // Frames that had arrived by then are still in the queue of the camera for a moment.
    let door: any;
    const isIdle = async (): Promise<boolean> => {
      const { cameras, spool } = await health();
      [door] = cameras;
      return door.problem !== null && door.frames === door.spooled + door.failed + door.lost && spool.packets === 0;
    };
    await until(isIdle, "an empty spool");
    expect(await metric(UP)).toBe(0);
    expect(door).toMatchObject({ failed: 0, lost: 0 });
    const frames = framesOf(host);
    expect(frames).toHaveLength(door.spooled);
    const first = frames[0]!.sequence!;
    expect(frames.map(({ sequence }) => sequence! - first)).toEqual(frames.map((_, i) => i));
    const times = frames.map(({ time }) => time!);
    expect(times).toEqual([...times].sort());
    // Pictures show what the camera saw, up to the loss of JPEG: first much red, then little.
    const reds = frames.map((packet) => Math.round(redOf(packet) * 255));
    const change = reds.findIndex((red) => red < 125);
    for (const [i, red] of reds.entries()) expect(Math.abs(red - (i < change ? 0xc8 : 0x32))).toBeLessThan(16);

    agent.kill("SIGTERM");
    const { code, text } = await agent.ended;
    expect(code).toBe(0);
    expect(text).not.toContain("secret");
  });

  it("that refuses the password is told in health and log, without the password", async () => {
    const camera = await RtspCamera.make();
    await camera.start(0xffffff);
    const { agent, health } = await start({ kind: "rtsp", url: camera.url("wrong-word") });
    await until(async () => (await health()).problems.join().includes("401 Unauthorized"), "the refusal");
    agent.kill("SIGTERM");
    const { text } = await agent.ended;
    expect(text).toContain("401 Unauthorized");
    expect(text).not.toContain("wrong-word");
  });
});

// A container has no V4L2 device, and none can be made without a module of the kernel. A stand-in for ffmpeg checks the
// arguments and gives frames; ffmpeg itself is asked whether it knows them.
describe("a camera of V4L2", () => {
  /** Gives five frames of 32 x 24 for each start. All is red in the first one, nothing later. */
  const STAND_IN = `#!/bin/sh
echo "$*" >> "$LOG"
case "$*" in *"-f v4l2 -video_size 32x24 -framerate 10 -i /dev/video9 "*) ;; *) echo "wrong arguments" >&2; exit 9;; esac
[ "$(wc -l < "$LOG")" = 1 ] && byte='\\377' || byte='\\000'
for i in 1 2 3 4 5; do
  printf 'P6\\n32 24\\n255\\n'; head -c 2304 /dev/zero | tr '\\000' "$byte"; sleep 0.1
done
[ "$(wc -l < "$LOG")" = 2 ] && exec sleep 60
echo "[video4linux2,v4l2] ioctl(VIDIOC_DQBUF): No such device" >&2
exit 1
`;

  it("is opened with the size and rate of its settings, and again after it was unplugged", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "ffmpeg"), STAND_IN, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env["PATH"]}`, LOG: join(folder, "starts") };
    const source = { kind: "v4l2", path: "/dev/video9", size: [32, 24], fps: 10 };
    const { agent, host, health, metric } = await start(source, env, folder);
    const reds = (): number[] => framesOf(host).map((packet) => redOf(packet));
    await until(() => reds().includes(0), "frames of the second start");
    // A slow machine skips frames of a live camera: some are red, and all that follow are not.
    const red = reds().indexOf(0);
    expect(red).toBeGreaterThan(0);
    expect(reds()).toEqual(reds().map((_, n) => (n < red ? 1 : 0)));
    await agent.says(/camera lost: \[video4linux2,v4l2\] ioctl\(VIDIOC_DQBUF\): No such device/);
    expect(await metric(RESTARTS)).toBe(1);
    expect((await health()).code).toBe(200);
    expect(readFileSync(env.LOG, "utf8").trimEnd().split("\n")).toHaveLength(2);
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
  });

  it.skipIf(!hasFfmpeg)("is opened with options that ffmpeg has, and a missing device is told", async () => {
    const help = spawnSync("ffmpeg", ["-hide_banner", "-h", "demuxer=v4l2"], { encoding: "utf8" }).stdout;
    for (const option of ["-video_size", "-framerate"]) expect(help).toContain(option);
    const { agent, health } = await start({ kind: "v4l2", path: "/dev/video-missing" });
    await until(async () => (await health()).problems.join().includes("/dev/video-missing"), "the problem");
    expect((await health()).problems[0]).toContain("No such file or directory");
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
  });
});
