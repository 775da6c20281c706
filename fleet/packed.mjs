/**
 * Installs agent, host and hub from their `npm pack` tarballs, beside the packed boxwright, into a clean folder. Then
 * runs the commands there: a host, an agent that sends photos to it, and a hub. ci.sh runs this after boxwright is
 * built.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const fleet = fileURLToPath(new URL(".", import.meta.url));
const root = join(fleet, "..");
const folder = mkdtempSync(join(tmpdir(), "boxwright-packed-"));
/** Milliseconds that an installation or a command may take. */
const LIMIT = 600_000;

// Remove the variables and paths that `npx` and `npm run` add: the paths may contain, for example, an old npm.
const own = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
const path = process.env.PATH.split(delimiter).filter((part) => !part.includes("node_modules"));
const env = { ...Object.fromEntries(own), ONNXRUNTIME_NODE_INSTALL: "skip", ORT_DISABLE_TELEMETRY: "1" };
env.PATH = [join(folder, "node_modules/.bin"), ...path].join(delimiter);

const npm = (cwd, ...words) =>
  execFileSync("npm", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], timeout: LIMIT });
const run = (command, ...words) => execFileSync(command, words, { cwd: folder, env, encoding: "utf8", timeout: LIMIT });

function check(holds, what, got) {
  if (!holds) throw new Error(`${what}: got ${JSON.stringify(got)}`);
  console.log(`ok: ${what}`);
}

/** Starts a command, and waits for a pattern in its output. Passes the match to `work`, and then kills the command. */
async function during(command, words, pattern, work) {
  const child = spawn(command, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const out of [child.stdout, child.stderr]) out.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  try {
    for (let tries = 0; !pattern.test(said); tries++) {
      if (tries > 600 || child.exitCode !== null) throw new Error(`${command} does not listen:\n${said}`);
      await sleep(100);
    }
    await work(pattern.exec(said)[1]);
    child.kill("SIGTERM");
    check((await ended) === 0, `${command} ends in order`, await ended);
  } finally {
    child.kill("SIGKILL");
  }
}

function install() {
  const tarballs = [root, ...["hub", "agent", "host"].map((part) => join(fleet, part))].map((from) => {
    const scripts = from === root ? ["--ignore-scripts"] : [];
    const said = npm(from, "pack", "--json", "--silent", ...scripts, "--pack-destination", folder);
    // Skip the output of the `prepack` build, which may come first.
    const [{ filename }] = JSON.parse(said.slice(said.lastIndexOf("\n[") + 1));
    return join(folder, filename);
  });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  npm(folder, "install", "--no-audit", "--no-fund", "--prefer-offline", "--omit=dev", ...tarballs);
}

async function runHostAndAgent() {
  const photos = join(folder, "photos");
  mkdirSync(photos);
  for (const name of ["astronaut.jpg", "chelsea.png"])
    cpSync(join(root, "test/fixtures/photos", name), join(photos, name));
  const model = join(root, "test/fixtures/detect/network.onnx");
  const page = /"page":"(http:[^"]+)"/;
  await during("boxwright-host", ["--port", "0", "--threads", "1"], page, async (url) => {
    const to = ["--to", url.replace(/\/$/, "")];
    run("boxwright-agent", "--photos", photos, "--model", model, ...to);
    const lines = (await (await fetch(`${url}v1/detections`)).text()).split("\n").filter(Boolean);
    check(lines.length === 2, "the host has a frame of each photo", lines);
    const answer = await fetch(url);
    check(answer.status === 200 && (await answer.text()).includes("<html"), "the host has its page", answer.status);
  });
}

async function runHub() {
  const { link } = JSON.parse(run("boxwright-hub", "init", "--email", "you@example.org"));
  check(/\/link\//.test(link), "boxwright-hub init gives a link", link);
  env.HUB_PORT = "0";
  await during("boxwright-hub", ["serve"], /^\{"listening":"(http:[^"]+)"/m, async (url) => {
    for (const place of ["/sign-in", "/app.css", "/readyz"]) {
      const { status } = await fetch(url + place);
      check(status === 200, `boxwright-hub answers ${place}`, status);
    }
  });
}

try {
  install();
  for (const command of ["boxwright-agent", "boxwright-host", "boxwright-hub"])
    check(run(command, "--help").includes(command), `${command} is on the path`, "other text");
  await runHostAndAgent();
  await runHub();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
