// Compares hosts, in turns, so that other work on the machine slows all of them. Build all checkouts first.
//   node scripts/in-turns.mjs --against DIR [--seconds 5] [--rounds 3] [--types detection,i8,f32]
//                                                            packets over HTTP, against another checkout
//   node scripts/in-turns.mjs --two [--publishers 3] [--rounds 3]        two hosts against one, on NATS and PostgreSQL
// Prints packets a second, and the processor time of the hosts for each packet, which other work hardly changes. First
// each host takes a fixed number of packets, since code is compiled after many calls, not after some seconds.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";

const own = fileURLToPath(new URL("../../..", import.meta.url));
/** Number of packets of each type that a host takes before the measurement. */
const WARM_UP = { detection: 2000, i8: 200, f32: 100 };
const SENDERS = 8;
const text = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: {
    ...{ against: text(""), two: { type: "boolean" }, seconds: text("5"), rounds: text("3"), publishers: text("3") },
    ...{ types: text(Object.keys(WARM_UP).join()), send: text(""), url: text(""), packets: text("Infinity") },
  },
});
const [seconds, rounds, publishers] = [values.seconds, values.rounds, values.publishers].map(Number);
const TICKS = 100;

/** Returns the name of a process, its parent, and the processor seconds of it and of its ended children. */
function statOf(pid) {
  const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = rest.split(" ").map(Number);
  return { name, parent: fields[1], own: (fields[11] + fields[12]) / TICKS, ended: (fields[13] + fields[14]) / TICKS };
}

/** Returns the processor seconds of a process. */
const secondsOf = ({ pid }) => statOf(pid).own;

/** Returns the processor seconds of hosts, PostgreSQL, broker and publishers. All of them are below this process. */
function secondsOfParts(hosts) {
  const stats = new Map();
  for (const pid of readdirSync("/proc").map(Number).filter(Boolean))
    try {
      stats.set(pid, statOf(pid));
    } catch {
      // The process has ended meanwhile.
    }
  const isOurs = (pid) => pid === process.pid || (stats.has(pid) && isOurs(stats.get(pid).parent));
  const parts = { hosts: 0, PostgreSQL: 0, broker: 0, publishers: stats.get(process.pid).ended };
  const isHost = new Set(hosts.map(({ child }) => child.pid));
  for (const [pid, { name, own, ended }] of stats)
    if (isHost.has(pid)) parts.hosts += own;
    else if (/postgres/.test(name) && isOurs(pid)) parts.PostgreSQL += own + ended;
    else if (/nats/.test(name) && isOurs(pid)) parts.broker += own;
  return parts;
}

/** Starts the host of a checkout. Resolves to its process and address once it listens. */
function startHost(checkout, folder, args, env = {}) {
  const file = join(checkout, "fleet/host/dist/cli/main.js");
  const options = { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] };
  const child = spawn(process.execPath, [file, "--port", "0", ...args], options);
  return new Promise((done, fail) => {
    let said = "";
    const read = (bytes) => {
      said = (said + bytes).slice(-20_000);
      const [, page] = /"page":"([^"]+)"/.exec(said) ?? [];
      if (page) done({ child, url: page.replace("localhost", "127.0.0.1") });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => fail(new Error(`the host of ${checkout} ended with ${code}:\n${said}`)));
  });
}

function stop({ child }) {
  child.removeAllListeners("exit");
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  return ended;
}

/** Runs a command of node, and returns its output. */
const run = async (...args) => (await promisify(execFile)(process.execPath, args)).stdout;

/**
 * Sends packets of one type for some seconds, at most `--packets`, and prints how many were taken. Runs in a process of
 * its own.
 */
async function send(type, url) {
  const { createDecoderSync, toPacket } = await import(pathToFileURL(join(resolve(values.against), "dist/index.mjs")));
  const boxes = 8400;
  const config = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  const decoder = createDecoderSync(config);
  const data = new Float32Array(84 * boxes);
  for (let box = 0; box < 20; box++) {
    [60 + box * 25, 200 + box * 10, 40, 60].forEach((value, row) => (data[row * boxes + box * 401] = value));
    data[(4 + box) * boxes + box * 401] = 0.9 - box / 50;
  }
  const dims = [1, 84, boxes];
  const i8 = Int8Array.from(data, (value) => Math.max(-128, Math.min(127, value)));
  const output0 = type === "i8" ? { data: i8, dims, type, scale: 0.007, zeroPoint: 0 } : { data, dims };
  const frame = { width: 1280, height: 720, resize: "letterbox" };
  const outputs = type === "detection" ? decoder.decode({ output0 }, frame).copy() : { output0 };
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const ask = (method, path, body) =>
    new Promise((done, fail) => {
      const sent = request(new URL(path, url), { method, agent, headers: { "content-length": body.length } });
      sent.on("response", (answer) => answer.resume().once("end", () => done(answer.statusCode)));
      sent.on("error", fail).end(body);
    });
  await ask("PUT", `/v1/configs/${decoder.configHash}`, Buffer.from(JSON.stringify({ config })));
  const end = performance.now() + seconds * 1000;
  let taken = 0;
  let refused = 0;
  let left = Number(values.packets);
  const one = async (_, sender) => {
    for (let n = 0; performance.now() < end && left > 0; n++) {
      left--;
      const about = {
        id: `${process.pid}-${n}`,
        source: `/devices/${sender}`,
        subject: "door",
        time: new Date(),
        sequence: n,
      };
      if ((await ask("POST", "/v1/packets", toPacket(decoder, outputs, frame, about))) === 204) taken++;
      else refused++;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, one));
  agent.destroy();
  console.log(JSON.stringify({ taken, refused }));
}

/** Returns packets a second, and milliseconds of processor time per packet, of one host under one type of packets. */
async function measureOne(checkout, type) {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-turns-"));
  const host = await startHost(checkout, folder, ["--database", "turns.db"]);
  const file = fileURLToPath(import.meta.url);
  const sending = (...limit) => run(file, "--send", type, "--url", host.url, "--against", checkout, ...limit);
  await sending("--packets", WARM_UP[type], "--seconds", 60);
  const before = secondsOf(host.child);
  const { taken, refused } = JSON.parse(await sending("--seconds", seconds));
  const cpu = secondsOf(host.child) - before;
  await stop(host);
  rmSync(folder, { recursive: true, force: true });
  if (refused > 0) throw new Error(`got ${refused} of ${taken + refused} packets (${type}) refused, expected none`);
  return { rate: taken / seconds, cpu: (1000 * cpu) / taken };
}

/** Returns both figures for `count` hosts on one broker and database, with several publishers. */
async function measureMany(count, server) {
  const { Broker } = await import("boxwright-service/testing/broker");
  const folder = mkdtempSync(join(tmpdir(), "boxwright-turns-"));
  const broker = await Broker.start({ lines: "max_payload: 8MB\nmax_pending: 256MB" });
  const env = { BOXWRIGHT_DATABASE: await server.newDatabase() };
  const hosts = [];
  for (let i = 0; i < count; i++)
    hosts.push(await startHost(own, folder, ["--nats", broker.url, "--partitions", "4"], env));
  const file = fileURLToPath(new URL("send.mjs", import.meta.url));
  const sending = (frames) =>
    run(file, ...["--nats", broker.url, "--partitions", "4", "--cameras", "16", "--frames", frames]);
  // Warm up, as in WARM_UP.
  await sending("120");
  const before = secondsOfParts(hosts);
  const said = await Promise.all(Array.from({ length: publishers }, () => sending("100")));
  const packets = publishers * 1600;
  const after = secondsOfParts(hosts);
  const parts = Object.entries(after).map(([name, seconds]) => [name, (1000 * (seconds - before[name])) / packets]);
  const [[, cpu]] = parts;
  // Add the rates: each publisher waits until the stream is empty, so all publishers end together.
  const rate = said.reduce((sum, line) => sum + Number(/by the hosts (\d+)/.exec(line)[1]), 0);
  for (const host of hosts) await stop(host);
  await broker.remove();
  rmSync(folder, { recursive: true, force: true });
  return { rate, cpu, parts: Object.fromEntries(parts) };
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

/** Runs two measurements in turns, and prints a row with the medians of their figures. */
async function compare(name, first, second) {
  const [a, b] = [[], []];
  for (let round = 0; round < rounds; round++) {
    // Swap the order in every second round, since a machine gets slower while it gets warm.
    for (const one of round % 2 ? [1, 0] : [0, 1]) (one ? b : a).push(await (one ? second : first)());
  }
  const row = ["rate", "cpu"].flatMap((key) => {
    const [x, y] = [a, b].map((runs) => median(runs.map((one) => one[key])));
    return [x, y, x / y].map((value) => value.toFixed(value < 10 ? 2 : 0).padStart(11));
  });
  console.log(name.padEnd(12) + row.join(""));
  for (const runs of [a, b].filter(([{ parts }]) => parts !== undefined)) {
    const parts = Object.keys(runs[0].parts).map((part) => [part, median(runs.map((one) => one.parts[part]))]);
    const sum = parts.reduce((all, [, ms]) => all + ms, 0);
    const texts = parts.map(([part, ms]) => `${part} ${ms.toFixed(2)}`);
    const most = Math.round((1000 * cpus().length) / sum);
    console.log(
      `  ms a packet: ${texts.join(", ")}; ${cpus().length} processors take at most ${most} packets a second`,
    );
  }
}

const head = (name, one, other) =>
  console.log(
    name.padEnd(12) +
      [`${one} /s`, `${other} /s`, "ratio", `${one} ms`, `${other} ms`, "ratio"].map((s) => s.padStart(11)).join(""),
  );

if (values.send) await send(values.send, values.url);
else if (values.two) {
  const { PostgresServer } = await import("boxwright-service/testing/postgres");
  const server = await PostgresServer.create();
  head("hosts", "two", "one");
  await compare(
    "detection",
    () => measureMany(2, server),
    () => measureMany(1, server),
  ).finally(() => server.remove());
} else {
  const other = resolve(values.against);
  head("packets", "this", "other");
  for (const type of values.types.split(","))
    await compare(
      type,
      () => measureOne(own, type),
      () => measureOne(other, type),
    );
}
