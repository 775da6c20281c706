/**
 * A log that is rotated by a move or by a cut, whose disk is full, or whose reader hangs, under each of the services.
 * None of them stops or waits, and what the log could not take is counted.
 */
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "boxwright-service/testing/wait";
import { temporaryFolder } from "../support/host.ts";
import { COMMAND } from "../support/process.ts";

afterAll(() => Child.killAll());

interface Started {
  readonly child: Child;
  readonly url: string;
  /** True if the process answers. */
  readonly isWell: () => Promise<boolean>;
}

/** Starts a service. `to` is the end of a command of the shell that says where the log goes. */
async function start(part: string, folder: string, to: string): Promise<Started> {
  const port = await freePort();
  const main = join(COMMAND, "../../../..", part, "dist/cli/main.js");
  const photos = join(folder, "photos");
  mkdirSync(photos);
  const settings = {
    ...{ state: "state", device: "/devices/1", network: { model: "model.onnx", output_format: "raw" } },
    ...{ sources: [{ kind: "folder", path: "photos", watch: true }], sinks: [{ kind: "ndjson", path: "frames" }] },
    health: { port },
  };
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
  writeFileSync(join(folder, "model.onnx"), readFileSync(MODEL));
  const args = {
    agent: [join(folder, "settings.json")],
    host: ["--port", String(port), "--threads", "1", "--database", join(folder, "host.db")],
    hub: ["serve", "--create"],
  }[part]!;
  const env = {
    ...{ ...process.env, HUB_PORT: String(port), HUB_DATABASE_FILE: join(folder, "hub.db") },
    HUB_FILES: join(folder, "files"),
  };
  const child = new Child(["sh", "-c", `exec "$@" ${to}`, "sh", process.execPath, main, ...args], { env });
  const url = `http://127.0.0.1:${port}`;
  const isWell = (): Promise<boolean> =>
    fetch(`${url}/healthz`).then(
      async (answer) => (await answer.text()) !== "",
      () => false,
    );
  await until(isWell, `the ${part}`);
  return { child, url, isWell };
}

const MODEL = new URL("../../../../test/fixtures/detect/network.onnx", import.meta.url);
const PARTS = ["host", "hub", "agent"];

test.each(PARTS)(
  "%s: its log is moved away, or cut, and SIGHUP follows: it goes on, and so does the log",
  async (part) => {
    const folder = temporaryFolder().path;
    const [file, moved] = [join(folder, "log"), join(folder, "log.1")];
    // The shell does not open the log to append, as in a careless script.
    const { child, isWell } = await start(part, folder, `> ${file} 2>&1`);
    const said = (path: string): number => readFileSync(path, "utf8").match(/got SIGHUP/g)?.length ?? 0;
    renameSync(file, moved);
    child.kill("SIGHUP");
    await until(() => said(moved) === 1, "a line in the moved log");
    const before = statSync(moved).size;
    truncateSync(moved);
    child.kill("SIGHUP");
    await until(() => said(moved) === 1, "a line in the log that was cut");
    // The log has no hole of the size of the old log.
    expect(readFileSync(moved, "utf8")).not.toContain("\0");
    expect(statSync(moved).size).toBeLessThan(before + 4096);
    expect(await isWell()).toBe(true);
    expect(await child.end("SIGTERM")).toBe(0);
  },
);

test.each(PARTS)("%s: the disk of its log is full: it goes on, and ends in order", async (part) => {
  const folder = temporaryFolder().path;
  const { child, isWell } = await start(part, folder, "> /dev/full 2>&1");
  for (let n = 0; n < 3; n++) {
    child.kill("SIGHUP");
    expect(await isWell()).toBe(true);
  }
  expect(await child.end("SIGTERM")).toBe(0);
});

test.each(PARTS)("%s: the reader of its log hangs: it goes on, and ends in order", async (part) => {
  const folder = temporaryFolder().path;
  const pipe = join(folder, "pipe");
  await new Child(["mkfifo", pipe]).ended;
  // Opened to read and write, so that it has a reader, which reads nothing.
  const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(held, "x");
  }).toThrow("EAGAIN");
  const { child, isWell } = await start(part, folder, `> ${pipe} 2>&1`);
  for (let n = 0; n < 10; n++) {
    child.kill("SIGHUP");
    expect(await isWell()).toBe(true);
  }
  expect(await child.end("SIGTERM")).toBe(0);
  closeSync(held);
});
