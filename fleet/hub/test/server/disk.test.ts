/** A disk that is full, and a database file that is deleted, under a running hub. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { LIST, startHub, temporaryFolder, type TestHub } from "../support/hub.ts";
import { SmallDisk } from "../support/disk.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

const readiness = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/readyz`);
  return `${answer.status} ${await answer.text()}`;
};

describe.skipIf(!inject("mount"))("a full disk", () => {
  let disk: SmallDisk;
  let hub: HubProcess | undefined;
  beforeEach(() => {
    disk = SmallDisk.mount(4)!;
  });
  afterEach(async () => {
    await hub?.end("SIGKILL");
    hub = undefined;
    disk.unmount();
  });

  it("is said by /readyz, the log, writes and commands, and is over as soon as there is room", async () => {
    const env: Environment = { HUB_DATABASE_FILE: join(disk.path, "hub.db") };
    const init = await run(["init", "--email", "root@example.org"], env);
    const team = init.json.team.id as string;
    hub = await HubProcess.start(env);
    const { url } = hub;
    const person = await useLinkAt(url, init.json.link as string);
    const key = await makeKey(person, team);
    const form = await person.formOf(`/teams/${team}/devices`, `/teams/${team}/devices`);
    const add = async () => (await person.post(`/teams/${team}/devices`, { ...form, name: "x".repeat(100) })).status;
    const ask = async () =>
      (
        await fetch(`${url}/graphql`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ query: LIST }),
        })
      ).status;
    expect([await readiness(url), await add()]).toEqual(["200 ready\n", 303]);

    disk.fill();
    await untilPasses(async () => expect(await readiness(url)).toMatch(/^503 .*disk.* full \(ENOSPC\)/));
    expect(await add()).toBe(503);
    // Reading goes on, on pages too.
    expect(await ask()).toBe(200);
    expect((await person.get(`/teams/${team}/devices`)).status).toBe(200);
    await untilPasses(() => expect(hub?.output).toContain("ENOSPC"));
    const command = await run(["devices", "add", "--team", team, "--name", "y"], env);
    expect([command.code, command.stderr]).toEqual([
      1,
      `hub: the disk of the database is full (ENOSPC): database file ${join(disk.path, "hub.db")}\n`,
    ]);
    const onDisk = await run(["backup", "--out", join(disk.path, "backup.gz")], env);
    expect([onDisk.code, onDisk.stderr]).toMatchObject([1, expect.stringContaining("ENOSPC")]);

    rmSync(join(disk.path, "filler"));
    await untilPasses(async () => expect(await readiness(url)).toBe("200 ready\n"));
    expect(await add()).toBe(303);
  });

  it("is the cause that backup names when only its own file has no room", async () => {
    const env: Environment = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    await run(["init", "--email", "root@example.org"], env);
    disk.fill();
    const file = join(disk.path, "backup.gz");
    const { code, stderr } = await run(["backup", "--out", file], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`backup ${file}: ENOSPC: no space left on device`)]);
  });

  it("is named when a command cannot open the database for it", async () => {
    const env: Environment = { HUB_DATABASE_FILE: join(disk.path, "hub.db") };
    await run(["init", "--email", "root@example.org"], env);
    disk.fill();
    const { code, stderr } = await run(["backup", "--out", join(folder.path, "backup.gz")], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("full (ENOSPC)")]);
  });
});

describe("a database file that is deleted under a running hub", () => {
  let hub: TestHub;
  let file: string;
  beforeEach(async () => {
    hub = await startHub();
    file = hub.storage.config.databaseFile;
  });
  afterEach(() => hub.stop());

  it("is noticed within a second: nothing is read, written or acknowledged any more", async () => {
    expect((await hub.query(LIST)).status).toBe(200);
    rmSync(file);
    // The next write looks, whenever it comes.
    await expect(hub.storage.db.write((tx) => tx.all("SELECT 1 AS one"))).rejects.toThrow(
      `the database file was deleted or replaced under the running hub; restart the hub (${file})`,
    );
    await untilPasses(async () => expect((await hub.query(LIST)).status).toBe(503));
    expect(await readiness(hub.url)).toMatch(/^503 the database file was deleted or replaced/);
    expect(hub.logs()).toContain("was deleted or replaced");
  });

  it("is noticed without a write, and when another file takes its place", async () => {
    renameSync(file, `${file}.old`);
    writeFileSync(file, "");
    await untilPasses(async () => expect((await hub.query(LIST)).status).toBe(503));
    // The same file under its name again: all is well.
    renameSync(`${file}.old`, file);
    await untilPasses(async () => expect((await hub.query(LIST)).status).toBe(200));
    hub.clock.offset += 1000;
    expect(await readiness(hub.url)).toBe("200 ready\n");
  });
});
