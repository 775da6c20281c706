/**
 * Runs a part as its systemd unit does, without systemd: `node as-unit.mjs host`. The ci.sh of each part runs this
 * after its build. The command, folders, variables, limits and the time for a stop come from the unit.
 *
 * Covers: a user without rights or capabilities, a file system that is read-only except for the state folder and
 * private temporary folders, hidden home folders, handed-over credentials, UMask, LimitNOFILE, SIGTERM and the end
 * within TimeoutStopSec. Does not cover: filters of system calls and address families, DynamicUser's own user id,
 * devices, restarts. `systemd-analyze verify` is in the tests of each part.
 */
import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const fleet = fileURLToPath(new URL(".", import.meta.url));
const root = join(fleet, "..");
/** The user "nobody". */
const NOBODY = 65534;
/** Seconds that a start may take on a busy machine. */
const PATIENCE = 120;

/** For each part: the settings an operator gives, the output of a running part, and a first task for the part. */
const PARTS = {
  host: {
    credentials: { config: JSON.stringify({ port: 0, threads: 1 }) },
    runs: /"port":(\d+),"page"/,
    async work(port) {
      const { status } = await fetch(`http://127.0.0.1:${port}/healthz`);
      check(status === 200, "healthz answers 200", status);
      const refused = await fetch(`http://127.0.0.1:${port}/v1/packets`, { method: "POST", body: "no packet" });
      check(refused.status === 400, "a refusal is recorded and answered", refused.status);
    },
  },
  hub: {
    variables: { HUB_PORT: "0" },
    runs: /^\{"listening":"http:\/\/[^"]+:(\d+)"/m,
    async work(port) {
      const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
      check(status === 200, "readyz answers 200", status);
    },
  },
  agent: {
    credentials: { token: "token-of-the-receiver-0123456789" },
    settings: {
      "settings.json": JSON.stringify({
        ...{ device: "/devices/7", state: "/var/lib/boxwright-agent", health: { port: 0 } },
        network: { model: "/opt/boxwright/test/fixtures/detect/network.onnx", output_format: "detection", threads: 1 },
        sources: [{ kind: "folder", camera: "door", path: "/opt/boxwright/test/fixtures/photos", watch: true }],
        // An address without a listener: packets wait in the spool.
        sinks: [
          {
            ...{ kind: "http", url: "http://127.0.0.1:9" },
            tokenFile: "/run/credentials/boxwright-agent.service/token",
          },
        ],
      }),
    },
    runs: /"port":(\d+)/,
    async work(port) {
      for (let tries = 0; ; tries++) {
        const { spool } = await (await fetch(`http://127.0.0.1:${port}/healthz`)).json();
        if (spool.packets > 0) return check(true, "frames wait in the spool");
        if (tries > PATIENCE * 10) check(false, "frames wait in the spool", spool);
        await sleep(100);
      }
    },
  },
};

/** Sets up the unit's mounts as root in a separate namespace, and then runs the program. */
const ENTER = `set -eu
given=$1 repo=$2 node=$3 name=$4 files=$5; shift 5
mount --make-rprivate /
mount -t tmpfs none /opt
mkdir /opt/boxwright /opt/etc
touch /opt/node
mount --bind "$repo" /opt/boxwright
mount --bind "$node" /opt/node
mount --bind "$given/settings" /opt/etc
mount -t tmpfs none /var/lib
mkdir "/var/lib/$name"
mount --bind "$given/state" "/var/lib/$name"
mount -t tmpfs none /run
mkdir -p "/run/credentials/$name.service"
mount --bind "$given/credentials" "/run/credentials/$name.service"
for place in /home /root; do [ ! -d $place ] || mount -t tmpfs -o mode=000 none $place; done
mount --bind "$given/var-tmp" /var/tmp
mount --bind "$given/tmp" /tmp
for place in $(cut -d ' ' -f 2 /proc/self/mounts); do
  case $place in
    /proc*|/sys*|/dev*|/tmp|/var/tmp|"/var/lib/$name") ;;
    *) mount -o remount,bind,ro "$place" || true ;;
  esac
done
# What counts is that nothing can be written.
for place in / /etc /usr /var /var/lib /opt /opt/boxwright /run; do
  if touch $place/written 2>/dev/null; then echo "$place can be written" >&2; exit 99; fi
done
cd "/var/lib/$name"
umask 0077
# systemd may raise the hard limit. A machine that does not let root raise it gives what it has.
ulimit -n "$files" 2>/dev/null || ulimit -n "$(ulimit -Hn)"
exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --no-new-privs \\
  --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"`;

function check(holds, what, got) {
  if (!holds) throw new Error(`${what}: got ${JSON.stringify(got)}`);
  console.log(`ok: ${what}`);
}

/** Returns why this machine cannot enter a mount namespace; null if it can. */
function obstacle() {
  if (process.getuid?.() !== 0) return "this user is not root";
  const { status, error, stderr } = spawnSync("unshare", ["-m", "setpriv", "--version"], { encoding: "utf8" });
  if (error) return `unshare: ${error.code}`;
  const mount = spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/opt"], { encoding: "utf8" });
  return status === 0 && mount.status === 0 ? null : (stderr + mount.stderr).trim();
}

/** Reads the fields of a unit. A repeated field has several values. */
function readUnit(file) {
  const fields = {};
  for (const [, name, value] of readFileSync(file, "utf8").matchAll(/^(\w+)=(.*)$/gm))
    (fields[name] ??= []).push(value);
  return fields;
}

/** Makes the folders that the unit provides. */
function makeFolders(given, { credentials = {}, settings = {} }) {
  for (const [name, files] of Object.entries({ state: {}, tmp: {}, "var-tmp": {}, credentials, settings })) {
    mkdirSync(join(given, name), { mode: name === "state" ? 0o700 : 0o755 });
    if (name === "state" || name.endsWith("tmp")) chownSync(join(given, name), NOBODY, NOBODY);
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(given, name, file), text, { mode: 0o400 });
      chownSync(join(given, name, file), NOBODY, NOBODY);
    }
  }
}

/** Returns the command of the unit, with the paths of the namespace. */
function commandOf(unit, part, name) {
  const [program, ...words] = unit.ExecStart[0].split(" ");
  const { bin } = JSON.parse(readFileSync(join(fleet, part, "package.json"), "utf8"));
  const main = bin[program];
  check(main !== undefined, "the unit's command is one of the package", program);
  const place = (word) =>
    word
      .replace("${CREDENTIALS_DIRECTORY}", `/run/credentials/${name}.service`)
      .replace(new RegExp(`^/etc/${name}/`), "/opt/etc/");
  return ["/opt/node", join("/opt/boxwright/fleet", part, main), ...words.map(place)];
}

async function runAsUnit(part) {
  const [file] = readdirSync(join(fleet, part, "deploy")).filter((one) => one.endsWith(".service"));
  const name = file.replace(".service", "");
  const unit = readUnit(join(fleet, part, "deploy", file));
  const { runs, work, variables, ...folders } = PARTS[part];
  check(unit.ProtectSystem?.[0] === "strict" && unit.StateDirectory?.[0] === name, `${file} names what is tried here`);
  const given = mkdtempSync(join(tmpdir(), "boxwright-unit-"));
  let child;
  try {
    makeFolders(given, folders);
    const settings = (unit.Environment ?? []).map((text) => text.split(/=(.*)/s).slice(0, 2));
    // Pass only systemd's few variables: CI sets others, which turn off parts of the runtime.
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(settings), ...variables };
    const words = [given, root, process.execPath, name, unit.LimitNOFILE?.[0] ?? "1024"];
    const command = commandOf(unit, part, name);
    child = spawn("unshare", ["-m", "sh", "-c", ENTER, "sh", ...words, ...command], {
      ...{ cwd: "/", env, stdio: ["ignore", "pipe", "pipe"] },
    });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.setEncoding("utf8").on("data", (text) => (said += text));
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
    for (let tries = 0; !runs.test(said); tries++) {
      if (tries > PATIENCE * 10 || child.exitCode !== null) throw new Error(`${part} does not run:\n${said}`);
      await sleep(100);
    }
    const owner = statSync(`/proc/${child.pid}`).uid;
    check(owner === NOBODY, "it runs as a user without rights", owner);
    await work(runs.exec(said)[1]);
    const limit = Number(unit.TimeoutStopSec[0]);
    const timer = setTimeout(() => child.kill("SIGKILL"), limit * 1000);
    child.kill("SIGTERM");
    const code = await ended;
    clearTimeout(timer);
    check(code === 0, `SIGTERM ends it in order within ${limit} s`, `${code}\n${said}`);
    checkState(given);
  } finally {
    child?.kill("SIGKILL");
    rmSync(given, { recursive: true, force: true });
  }
}

/** Checks that the program wrote files only in its state folder, readable only for its own user. */
function checkState(given) {
  const left = ["tmp", "var-tmp"].flatMap((name) => readdirSync(join(given, name)));
  check(left.length === 0, "it leaves nothing in temporary folders", left);
  const state = readdirSync(join(given, "state"), { recursive: true });
  check(state.length > 0, `its state is in its folder: ${readdirSync(join(given, "state")).sort().join(", ")}`);
  const open = state.filter((file) => {
    const { mode, uid } = statSync(join(given, "state", file));
    return (mode & 0o077) !== 0 || uid !== NOBODY;
  });
  check(open.length === 0, "nobody else may read its state", open);
}

const part = process.argv[2];
if (!(part in PARTS)) throw new Error(`got ${part}, expected one of ${Object.keys(PARTS).join(", ")}`);
const reason = obstacle();
if (reason === null) await runAsUnit(part);
else console.log(`SKIPPED: ${part} as its systemd unit runs it (${reason})`);
