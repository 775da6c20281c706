// Tests that memory does not grow. Runs a host, an agent, a sender and the page in Chromium for some minutes, and draws
// the memory of each over time into docs/memory.svg. Build agent and host first.
//   node scripts/flat.mjs [--minutes 10] [--rate 200] [--agent-rate 40] [--cameras 16] [--out docs/memory.svg]
// Half of the cameras are watched folders of the agent, into which this script copies small photos at a steady pace.
// The other half sends detections to the host, at the rest of the rate.
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createDecoderSync, toPacket } from "boxwright";
import { drawLines } from "./plot.mjs";

const { values } = parseArgs({
  options: Object.fromEntries(
    Object.entries({ minutes: "10", rate: "200", "agent-rate": "40", cameras: "16", out: "docs/memory.svg" }).map(
      ([name, value]) => [name, { type: "string", default: value }],
    ),
  ),
});
const [minutes, rate, agentRate, cameras] = [values.minutes, values.rate, values["agent-rate"], values.cameras].map(
  Number,
);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const MODEL = here("../../../test/fixtures/detect/network.onnx");
const PHOTOS_KEPT = 100;
const SAMPLE_MS = 5000;

const folder = mkdtempSync(join(tmpdir(), "boxwright-flat-"));
const children = [];
let browser;
process.once("exit", () => {
  children.forEach((child) => child.kill("SIGKILL"));
  // Kill the process group, to which the browser's own processes belong.
  if (browser) process.kill(-browser.pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Starts a command, and waits for a pattern in its log. */
function start(name, args, pattern) {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (bytes) => {
      text = (text + bytes).slice(-20_000);
      const found = pattern.exec(text);
      if (found) resolve({ child, found });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}:\n${text}`)));
  });
}

/** Returns the resident megabytes of a process. */
const memoryOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** Returns the process of the browser that runs the page: the largest renderer. */
function rendererOf() {
  let largest = { pid: 0, memory: 0 };
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (!command.includes("--type=renderer") || !command.includes(folder)) continue;
      const memory = memoryOf(pid);
      if (memory > largest.memory) largest = { pid: Number(pid), memory };
    } catch {
      // The process has ended meanwhile.
    }
  return largest.pid;
}

/**
 * Opens the page in a browser without a test driver. A driver keeps the answers that a page receives: under Playwright
 * the same page grows by 5 MB a minute.
 */
async function openPage(url) {
  const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const profile = `--user-data-dir=${join(folder, "profile")}`;
  browser = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", profile, url], {
    stdio: "ignore",
    detached: true,
  });
  while (rendererOf() === 0) await sleep(100);
}

/** Writes two small photos. The network finds one object in each. */
async function makePhotos() {
  const sharp = createRequire(here("../../agent/package.json"))("sharp");
  const paths = [];
  for (const edge of [20, 90]) {
    const data = new Uint8Array(32 * 24 * 3);
    [edge, 10, 250, 250, 230, 0].forEach((value, i) => (data[i * 3] = value));
    const path = join(folder, `${edge}.png`);
    await sharp(data, { raw: { width: 32, height: 24, channels: 3 } }).toFile(path);
    paths.push(path);
  }
  return paths;
}

const photos = await makePhotos();
const all = Array.from({ length: cameras }, (_, n) => `camera-${n}`);
const names = all.slice(0, cameras / 2);
const sentNames = all.slice(cameras / 2);
for (const name of names) mkdirSync(join(folder, name));
const host = await start(
  "host",
  [here("../dist/cli/main.js"), "--port", "0", "--database", join(folder, "host.db"), "--keep-days", "0"],
  /"page":"([^"]+)"/,
);
const url = host.found[1].replace("localhost", "127.0.0.1");
writeFileSync(
  join(folder, "settings.json"),
  JSON.stringify({
    state: "state",
    network: { model: MODEL, output_format: "detection" },
    sources: names.map((camera) => ({ kind: "folder", camera, path: camera, watch: true })),
    sinks: [{ kind: "http", url, inFlight: 16 }],
    preview: { every: 2, width: 320 },
    health: { port: 0 },
    log: "info",
  }),
);
const agent = await start("agent", [here("../../agent/dist/cli/main.js"), "settings.json"], /health server listens/);
await openPage(url);

const stored = async () =>
  (await (await fetch(`${url}v1/cameras`)).json()).cameras.reduce((n, one) => n + one.frames, 0);
const begin = performance.now();
const seconds = () => (performance.now() - begin) / 1000;
let put = 0;
let isOver = false;
const feeding = (async () => {
  while (!isOver) {
    for (; put < seconds() * agentRate && !isOver; put++) {
      const number = Math.floor(put / names.length);
      const camera = join(folder, names[put % names.length]);
      copyFileSync(photos[number % 2], join(camera, `${String(number).padStart(7, "0")}.png`));
      if (number >= PHOTOS_KEPT)
        rmSync(join(camera, `${String(number - PHOTOS_KEPT).padStart(7, "0")}.png`), { force: true });
    }
    await sleep(20);
  }
})();

const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64], labels: ["thing"] });
const outputs = { output0: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
[20, 20, 16, 16, 0.9].forEach((value, row) => (outputs.output0.data[row * 84] = value));
let sent = 0;
let failed = 0;
const underWay = new Set();
async function send(n) {
  const about = {
    ...{ id: `frame-${n}`, source: "/devices/sender", subject: sentNames[n % sentNames.length] },
    ...{ time: new Date(), sequence: Math.floor(n / sentNames.length) },
  };
  const body = toPacket(
    decoder,
    decoder.decode(outputs, { width: 64, height: 64, resize: "stretch" }),
    undefined,
    about,
  );
  const answer = await fetch(`${url}v1/packets`, { method: "POST", body }).catch(() => null);
  await answer?.arrayBuffer();
  if (answer?.status !== 204) failed++;
}
const sending = (async () => {
  while (!isOver) {
    for (; sent < seconds() * (rate - agentRate) && !isOver; sent++) {
      const one = send(sent).finally(() => underWay.delete(one));
      underWay.add(one);
      if (underWay.size >= 16) await Promise.race(underWay);
    }
    await sleep(10);
  }
  await Promise.all(underWay);
})();

const lines = { host: [], agent: [], page: [] };
let renderer = 0;
for (let count = 0; seconds() < minutes * 60; count++) {
  // Find the process of the page during the first samples only, while the page loads.
  if (count < 4) renderer = rendererOf();
  const pids = { host: host.child.pid, agent: agent.child.pid, page: renderer };
  for (const [name, pid] of Object.entries(pids)) lines[name].push([seconds() / 60, memoryOf(pid)]);
  if (count % 12 === 0)
    console.log(
      `${seconds().toFixed(0)} s: ${put} photos, ${sent} sent, ${await stored()} stored;`,
      Object.entries(lines)
        .map(([name, points]) => `${name} ${points.at(-1)[1].toFixed(0)} MB`)
        .join(", "),
    );
  await sleep(SAMPLE_MS);
}
isOver = true;
await Promise.all([feeding, sending]);
const total = await stored();
const mean = (points) => points.reduce((sum, [, value]) => sum + value, 0) / points.length;
const title = `${cameras} cameras, ${Math.round(total / seconds())} frames a second stored, ${minutes} minutes`;
console.log(`${title}: ${put} photos, ${sent} packets sent, ${failed} of them failed, ${total} stored`);
for (const [name, points] of Object.entries(lines)) {
  const quarter = Math.ceil(points.length / 4);
  const [second, last] = [points.slice(quarter, 2 * quarter), points.slice(-quarter)].map(mean);
  console.log(`${name}: ${second.toFixed(0)} MB in the second quarter, ${last.toFixed(0)} MB in the last`);
}
writeFileSync(values.out, drawLines(lines, { title, across: "minutes", up: "MB" }));
process.exit(0);
