/**
 * A device that is cloned: two machines run the same state folder, so they have one credential. Frames of both arrive,
 * each once, and the hub says that two devices seem to be one. After a revocation neither of them sends.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, inject, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { HubProcess, makeKey, run, useLinkAt } from "../../../hub/test/support/process.ts";
import { AGENT } from "../fleet/agent.ts";
import { temporaryFolder } from "../support/host.ts";
import { colourPng } from "../support/pixels.ts";
import { HostProcess } from "../support/process.ts";
import { readAll } from "../support/published.ts";

const MODEL = fileURLToPath(new URL("../../../../test/fixtures/detect/network.onnx", import.meta.url));
let shade = 0;

afterAll(() => Child.killAll());

/** Adds photos that differ from all others. */
function addPhotos(folder: string, count: number): void {
  for (let n = 0; n < count; n++, shade++)
    writeFileSync(
      join(folder, "photos", `${n}-${shade}.png`),
      colourPng(32, 24, new Uint8Array(32 * 24 * 3).fill(shade)),
    );
}

test.skipIf(!inject("agent") || !inject("hub"))(
  "a cloned device: no frame is lost, and the hub tells of it",
  async () => {
    const root = temporaryFolder().path;
    const env = {
      ...{ HUB_DATABASE_FILE: join(root, "hub.db"), HUB_FILES: join(root, "files"), HUB_HEARTBEAT_SECONDS: "1" },
    };
    const { link, team } = (await run(["init", "--email", "you@example.org", "--team", "Team"], env)).json;
    const adopt = await run(["adopt-keys", "create", "--team", "Team", "--name", "wall"], env);
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, link as string);
    const key = await makeKey(person, team.id as string);
    const host = await HostProcess.start({ database: join(root, "host.db"), hub: hub.url, "hub-seconds": 0.5 });
    const device = async (): Promise<{ id: string; conflictAt: string | null }> => {
      const response = await fetch(`${hub.url}/graphql`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ query: "{ team { devices { nodes { id conflictAt } } } }" }),
      });
      return (await response.json()).data.team.devices.nodes[0];
    };

    const [first, second] = [join(root, "first"), join(root, "second")];
    mkdirSync(join(first, "photos"), { recursive: true });
    const settings = {
      ...{ state: "state", log: "info", hub: { url: hub.url, adoptKey: adopt.json.key as string } },
      network: { model: MODEL, output_format: "raw", threads: 1 },
      sources: [{ kind: "folder", camera: "door", path: "photos", watch: true }],
      sinks: [{ kind: "http", url: host.url }],
    };
    writeFileSync(join(first, "settings.json"), JSON.stringify(settings));
    const start = (folder: string): Child => new Child([process.execPath, AGENT, join(folder, "settings.json")]);
    const stored = async (count: number): Promise<unknown> =>
      until(async () => (await readAll(host.url)).length === count, `${count} frames`);

    const original = start(first);
    addPhotos(first, 2);
    await stored(2);
    expect(await original.end("SIGTERM")).toBe(0);
    // The clone has photos of its own.
    for (const part of ["state", "settings.json"]) cpSync(join(first, part), join(second, part), { recursive: true });
    mkdirSync(join(second, "photos"));
    const both = [start(first), start(second)];
    addPhotos(first, 3);
    addPhotos(second, 3);
    await stored(8);
    await until(async () => (await device()).conflictAt !== null, "the hub to tell of a copy");
    const lines = await readAll(host.url);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(8);
    expect(new Set(lines.map(({ source }) => source))).toEqual(new Set([`device:${(await device()).id}`]));

    const page = `/teams/${team.id}/devices/${(await device()).id}`;
    expect((await person.post(`${page}/revoke`, await person.formOf(`${page}?revoke`, `${page}/revoke`))).status).toBe(
      303,
    );
    await Promise.all(both.map((agent) => agent.says(/the hub refuses the credential of this device/)));
    for (const child of [...both, host, hub]) await child.end("SIGTERM");
  },
);
