/**
 * A hub with a demo team, to try out: `npm run demo`. All files of the demo are in demo-data/, or in the folder that
 * the call names. Each start deletes this folder.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HubProcess, run } from "../test/support/process.ts";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../demo-data", import.meta.url));
if (existsSync(folder)) console.log(`Deletes the earlier demo in ${folder}: its team, people and keys are gone.`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true, mode: 0o700 });
const port = process.env["HUB_PORT"] ?? "8787";
const env = {
  HUB_DATABASE_FILE: join(folder, "hub.db"),
  HUB_FILES: join(folder, "files"),
  HUB_PORT: port,
  HUB_LOG_LEVEL: process.env["HUB_LOG_LEVEL"] ?? "warn",
};

const made = await run(["init", "--email", "demo@example.org", "--team", "Demo team"], env);
if (made.code !== 0) throw new Error(made.stderr);
const { team, link } = made.json as { team: { id: string }; link: string };
const devices = await run(["devices", "import", "--team", team.id, "-"], env, {
  input: "Front door\nLoading dock\nGreenhouse\n",
});
if (devices.code !== 0) throw new Error(devices.stderr);
const adopt = await run(["adopt-keys", "create", "--team", team.id, "--name", "Demo devices", "--devices", "10"], env);
if (adopt.code !== 0) throw new Error(adopt.stderr);
const { key: adoptKey } = adopt.json as { key: string };
let hub: HubProcess;
try {
  hub = await HubProcess.start(env);
} catch (error) {
  if (!/EADDRINUSE/.test((error as Error).message)) throw error;
  console.error(`got port ${port} in use, expected a free one: HUB_PORT=8790 npm run demo`);
  process.exit(1);
}
// Listen for signals before printing how to stop the demo: an earlier signal would leave the hub running.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => hub.kill("SIGTERM"));
console.log(`
A hub with a demo team of three devices runs at ${hub.url}

1. Open this link, choose a password, and you are signed in (it works once, for a day):

   ${link}

2. Team settings, "Create API key", copy the key, and in a shell:

   export HUB_API_KEY=hub_...
   curl ${hub.url}/graphql -H "Authorization: Bearer $HUB_API_KEY" -H "Content-Type: application/json" -d '{"query":"query { team { devices { nodes { id name } } } }"}'

3. To see a device of your own, let an agent enrol (the key is good for ten devices and seven days):

   ../agent/start.sh --hub ${hub.url} --key ${adoptKey} --photos DIR

Ctrl-C stops it.
`);
const { code } = await hub.ended;
if (code !== 0) {
  console.error(hub.output);
  process.exitCode = 1;
}
