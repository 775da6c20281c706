/**
 * Builds the image of each part from packed tarballs, starts it, asks for its health and stops it: `node images.mjs`,
 * or `node images.mjs host`. Without podman or docker, it runs the steps of the Containerfile on this machine: as root,
 * in a separate namespace, over a temporary copy of the file system. `node images.mjs --pack` only packs, into out/,
 * where compose.yaml looks. `--packed` uses the tarballs that are there.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const fleet = fileURLToPath(new URL(".", import.meta.url));
const root = join(fleet, "..");
const out = join(fleet, "out");
/** Seconds that a start may take. */
const PATIENCE = 120;

function pack() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  for (const folder of [root, ...["hub", "agent", "host"].map((part) => join(fleet, part))])
    execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder, stdio: "inherit" });
}

/** Returns the instructions of a Containerfile, each with its text. */
export function readContainerfile(text) {
  const lines = text
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n");
  return lines.filter(Boolean).map((line) => /^(\w+) (.*)$/.exec(line).slice(1));
}

/** Settings that an operator must state. */
const GIVEN = { hub: ["HUB_BASE_URL=https://hub.example.org"] };

const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** Returns a shell script that follows the Containerfile, starts its command, and waits for its health. */
export function replay(instructions, given = []) {
  const [steps, env] = [[], [...given]];
  let [user, workdir, command, health] = ["root", "/", "", ""];
  const enter = (words) =>
    `chroot --userspec=${user} "$new" env ${["HOME=/tmp", ...env].map(quote).join(" ")} ${words}`;
  const words = (json) => JSON.parse(json).map(quote).join(" ");
  for (const [name, text] of instructions) {
    if (name === "COPY") {
      const [to, ...from] = text.split(" ").reverse();
      steps.push(...from.map((file) => `cp "$context"/${file} "$new"${to}`));
    } else if (name === "RUN") steps.push(enter(`sh -euc ${quote(text)}`));
    else if (name === "ENV") env.push(...text.split(" "));
    else if (name === "USER") user = text;
    else if (name === "WORKDIR") workdir = text;
    else if (name === "CMD") command = words(text);
    else if (name === "HEALTHCHECK") health = words(text.replace(/^.*?CMD /, ""));
    else if (!/^(FROM|VOLUME|EXPOSE|STOPSIGNAL)$/.test(name))
      throw new Error(`got ${name}, expected a known instruction`);
  }
  return `set -eu
mount --make-rprivate /
mount -t tmpfs none "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/new"
new=$scratch/new
mount -t overlay overlay -o "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" "$new"
mount -t proc proc "$new/proc"
mount --rbind /dev "$new/dev"
mount -t tmpfs -o mode=1777 none "$new/tmp"
chroot "$new" sh -c 'id node 2>/dev/null || useradd node' >/dev/null
${steps.join("\n")}
[ ! -d "$context/settings" ] || cp -r "$context/settings" "$new/settings"
# A network of its own: ports are those of the image.
exec unshare -n sh -euc ${quote(`node -e 'process.exit(0)'
ip link set lo up
cd "$new"
${enter(`sh -c ${quote(`cd ${workdir} && exec ${command}`)}`)} &
child=$!
tries=0
until ${enter(health)} 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt ${PATIENCE} ] && kill -0 $child || { echo "it is not healthy" >&2; exit 1; }
  sleep 1
done
echo "healthy"
kill -TERM $child
wait $child
echo "ended in order"`)}
`;
}

/** Writes settings for an agent that has photos and an unreachable host. */
function writeSettings(folder) {
  mkdirSync(folder);
  for (const [from, to] of [
    ["test/fixtures/detect/network.onnx", "network.onnx"],
    ["test/fixtures/photos", "photos"],
  ])
    cpSync(join(root, from), join(folder, to), { recursive: true });
  const settings = {
    ...{
      device: "/devices/7",
      state: "/data",
      health: {},
      network: { model: "network.onnx", output_format: "detection" },
    },
    sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
    sinks: [{ kind: "http", url: "http://127.0.0.1:9" }],
  };
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
}

/** Builds and starts the image of a part by podman or docker. Returns false if neither is there. */
function buildImage(part, settings) {
  const builder = ["podman", "docker"].find((name) => spawnSync(name, ["info"]).status === 0);
  if (builder === undefined) return false;
  const image = `boxwright-${part}-test`;
  const file = join(fleet, part, "deploy/Containerfile");
  const run = (...words) => execFileSync(builder, words, { encoding: "utf8" }).trim();
  execFileSync(builder, ["build", "--file", file, "--tag", image, out], { stdio: "inherit" });
  const env = (GIVEN[part] ?? []).flatMap((setting) => ["--env", setting]);
  const id = run("run", "--detach", ...env, "--volume", `${settings}:/settings:ro`, image);
  try {
    const [, health] = readContainerfile(readFileSync(file, "utf8")).find(([name]) => name === "HEALTHCHECK");
    const probe = ["exec", id, ...JSON.parse(health.replace(/^.*?CMD /, ""))];
    for (let tries = 0; spawnSync(builder, probe).status !== 0; tries++) {
      if (tries > PATIENCE) throw new Error(`the image of the ${part} is not healthy:\n${run("logs", id)}`);
      spawnSync("sleep", ["1"]);
    }
    run("stop", id);
  } finally {
    run("rm", "--force", id);
  }
  return true;
}

function tryPart(part) {
  const context = mkdtempSync(join(tmpdir(), "boxwright-image-"));
  try {
    cpSync(out, context, { recursive: true });
    writeSettings(join(context, "settings"));
    if (buildImage(part, join(context, "settings"))) return console.log(`ok: the image of the ${part}`);
    const script = replay(
      readContainerfile(readFileSync(join(fleet, part, "deploy/Containerfile"), "utf8")),
      GIVEN[part],
    );
    const scratch = join(context, "scratch");
    mkdirSync(scratch);
    const env = { ...process.env, context, scratch, new: join(scratch, "new") };
    const { status } = spawnSync("unshare", ["-m", "sh", "-c", script], { env, stdio: "inherit" });
    if (status !== 0) throw new Error(`the steps of the ${part}'s Containerfile: got exit code ${status}, expected 0`);
    console.log(`ok: the steps of the ${part}'s Containerfile, replayed`);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  if (!words.includes("--packed")) pack();
  const parts = words.filter((word) => !word.startsWith("-"));
  if (!words.includes("--pack")) (parts.length > 0 ? parts : ["hub", "host", "agent"]).forEach(tryPart);
}
