/** The hub as a process: the command, signals, several of them, and a database that goes away. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request, type RequestOptions } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { freePort, PostgresServer } from "./support/postgres-server.ts";
import { kinds, LIST, openTestDatabase, startHub, temporaryFolder, type TestDatabase } from "./support/hub.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "./support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

const ask = async (url: string, key: string): Promise<number> =>
  (
    await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: LIST }),
    })
  ).status;

/** Until `what` is so, or it has taken too long: the caller then looks for itself. */
const until = async (what: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 200 && !(await what()); i++) await sleep(100);
};

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`the command on ${kind}`, () => {
    let storage: TestDatabase;
    let env: Environment;
    beforeEach(async () => {
      storage = await openTestDatabase(kind, { migrated: false });
      env =
        storage.config.databaseUrl === undefined
          ? { HUB_DATABASE_FILE: join(folder.path, "hub.db") }
          : { DATABASE_URL: storage.config.databaseUrl };
    });
    afterEach(() => storage.remove());

    it("takes an operator from nothing to a revoked key, while the hub runs (2)", async () => {
      const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
      expect(init.stderr).toBe("");
      const team = init.json.team as { id: string };
      expect((await run(["devices", "add", "--team", "Crew", "--name", "one", "--id", "dev-1"], env)).json).toEqual({
        id: "dev-1",
        name: "one",
      });
      const file = join(folder.path, "devices.jsonl");
      writeFileSync(file, '{"name":"two"}\n{"name":"three","id":"dev-3"}\n');
      expect((await run(["devices", "import", "--team", team.id, file], env)).json).toEqual({ imported: 2 });
      const hub = await HubProcess.start(env);
      const person = await useLinkAt(hub.url, init.json.link as string);
      const key = await makeKey(person, team.id);
      expect(await ask(hub.url, key)).toBe(200);
      expect((await run(["devices", "remove", "--team", "Crew", "--id", "dev-3"], env)).json).toEqual({
        removed: "dev-3",
      });
      expect((await run(["devices", "list", "--team", "Crew"], env)).json).toHaveLength(2);

      const full = await run(["keys", "revoke", "--team", "Crew", "--key", key], env);
      expect([full.code, full.stderr.includes(key.slice(17))]).toEqual([1, false]);
      expect(await ask(hub.url, key)).toBe(200);
      expect((await run(["keys", "revoke", "--team", "Crew", "--key", key.slice(4, 16)], env)).json).toEqual({
        revoked: key.slice(4, 16),
        before: false,
      });
      expect(await ask(hub.url, key)).toBe(401);
      expect((await run(["keys", "revoke", "--team", "Crew", "--key", key.slice(4, 16)], env)).json).toEqual({
        revoked: key.slice(4, 16),
        before: true,
      });

      const log = (await run(["audit", "--team", "Crew"], env)).json as { action: string; actor: string }[];
      expect(log.map((row) => [row.action, row.actor])).toEqual([
        ["key.revoked", "operator"],
        ["key.created", "root@example.org"],
        ["member.joined", "root@example.org"],
        ["invite.created", "operator"],
        ["team.created", "operator"],
      ]);
      const backup = join(folder.path, "backup.gz");
      expect((await run(["backup", "--out", backup], env)).code).toBe(0);
      expect((await run(["restore", "--from", backup], env)).stderr).toContain("expected an empty database");
      const elsewhere = { HUB_DATABASE_FILE: join(folder.path, "other.db") };
      const moved = await run(["restore", "--from", backup], elsewhere);
      expect([moved.code, moved.json]).toMatchObject([0, { inForce: { users: 1, keys: 0 } }]);
      // Said aloud where the database cannot know what was taken away since, and not where it can.
      expect(moved.stderr).toMatch(
        /^hub: this database does not know what happened after the backup of \d{4}-.* 0 API keys and 1 accounts/,
      );
      const again = await run(["restore", "--from", backup, "--replace"], elsewhere);
      expect([again.code, again.stderr, again.json]).toMatchObject([0, "", { stayRevoked: [], stayRemoved: [] }]);
      expect((await run(["teams", "members", "--team", "Crew"], elsewhere)).json).toMatchObject([
        { email: "root@example.org", role: "admin" },
      ]);
      expect(await hub.stop()).toBe(0);
      expect(hub.output).not.toContain(key.slice(17));
      expect(hub.output).not.toContain(new URL(init.json.link as string).pathname.slice(6));
    });

    it("says which keys a removed person leaves behind, and which team without an administrator", async () => {
      const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
      const team = init.json.team.id as string;
      const second = (await run(["teams", "add", "--name", "Second"], env)).json as { id: string };
      const hub = await HubProcess.start(env);
      const person = await useLinkAt(hub.url, init.json.link as string);
      const invited = await run(
        ["users", "invite", "--team", second.id, "--email", "root@example.org", "--role", "admin"],
        env,
      );
      await useLinkAt(hub.url, invited.json.link as string);
      const keys = [await makeKey(person, team), await makeKey(person, team), await makeKey(person, second.id)];
      const ids = keys.map((key) => key.slice(4, 16));
      await run(["keys", "revoke", "--team", "Crew", "--key", ids[0]!], env);
      const last = await run(["users", "remove", "--team", "Crew", "--email", "root@example.org"], env);
      expect([last.code, last.stderr]).toMatchObject([1, expect.stringContaining("last administrator")]);
      await useLinkAt(
        hub.url,
        (await run(["users", "invite", "--team", "Crew", "--email", "b@example.org", "--role", "admin"], env)).json
          .link as string,
      );
      const role = (name: string) =>
        run(["users", "role", "--team", "Crew", "--email", "root@example.org", "--role", name], env);
      expect((await role("member")).json).toMatchObject({ role: "member", keysThatStay: [ids[1]] });
      expect((await role("admin")).json).not.toHaveProperty("keysThatStay");
      expect(await run(["users", "remove", "--team", "Crew", "--email", " Root@example.org"], env)).toMatchObject({
        stderr: "",
        json: { removed: "root@example.org", keysThatStay: [ids[1]] },
      });
      const ended = await run(["users", "remove", "--email", "root@example.org"], env);
      expect(ended.json).toEqual({ removed: "root@example.org", keysThatStay: [ids[1], ids[2]] });
      expect(ended.stderr).toBe(
        `hub: team "Second" (${second.id}) has no administrator now: hub users role, or hub users invite --role admin\n`,
      );
      expect((await run(["users", "remove", "--email", "root@example.org"], env)).stderr).toContain("expected a user");
      await hub.stop();
    });

    it("starts four hubs on an empty database at once (19)", async () => {
      const hubs = await Promise.all([1, 2, 3, 4].map(() => HubProcess.start(env)));
      for (const hub of hubs) expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
      expect(await Promise.all(hubs.map((hub) => hub.stop()))).toEqual([0, 0, 0, 0]);
    });
  });
}

describe("the command", () => {
  it("says got and expected, on standard error, with the exit code 2 for a wrong call and 1 for what cannot be", async () => {
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const cases: [string[], Environment, number, RegExp][] = [
      [[], env, 2, /got no command/],
      [["keys"], env, 2, /got command "keys", expected one of: serve, .*keys revoke/],
      [["keys", "revoke", "--team", "x"], env, 2, /got no --key\nUsage: hub keys revoke/],
      [["teams", "add", "--nam", "x"], env, 2, /--nam.*\nUsage: hub teams add/s],
      [
        ["teams", "list"],
        { ...env, HUB_PORT: "x", HUB_LOG_LEVEL: "y" },
        2,
        /2 problems .*HUB_PORT: got "x".*HUB_LOG_LEVEL/s,
      ],
      [["teams", "list", "--config", "/does/not/exist"], env, 2, /expected a readable file/],
      [["serve"], { ...env, HUB_HOST: "0.0.0.0" }, 2, /without TLS/],
      [["teams", "rename", "--team", "x", "--name", "y"], env, 1, /got team "x", expected/],
      [
        ["teams", "list"],
        { DATABASE_URL: `postgres://u:topsecret@127.0.0.1:${await freePort()}/x` },
        1,
        /database cannot be reached/,
      ],
      [["serve"], { HUB_DATABASE_FILE: "/dev/null/hub.db" }, 1, /hub: /],
      [["audit", "--limit", "99999999999999999999"], env, 2, /--limit: got 99999999999999999999, expected/],
      [
        ["devices", "import", "--team", "x", "/does/not/exist"],
        env,
        1,
        /FILE: got "\/does\/not\/exist", expected a readable file/,
      ],
    ];
    const ran = await Promise.all(cases.map(([args, environment]) => run(args, environment)));
    ran.forEach(({ code, stderr, stdout }, i) => {
      expect([cases[i]![0], code]).toEqual([cases[i]![0], cases[i]![2]]);
      expect(stderr).toMatch(cases[i]![3]);
      expect(stderr).not.toMatch(/topsecret|\n\s+at /);
      if (cases[i]![0].length > 0) expect(stdout).toBe("");
    });
    const help = await run(["--help"], {});
    expect(help.code).toBe(0);
    for (const word of ["hub init", "hub serve", "hub keys revoke", "DATABASE_URL", "HUB_PROXY_HOPS"])
      expect(help.stdout).toContain(word);
  });

  it("names the database file that is damaged, and leaves it as it is", async () => {
    for (const content of [
      Buffer.from("no database at all ".repeat(500)),
      Buffer.from("SQLite format 3\0".padEnd(5000, "x")),
    ]) {
      const file = join(folder.path, "damaged.db");
      writeFileSync(file, content);
      for (const args of [["serve"], ["teams", "list"]]) {
        const { code, stderr, stdout } = await run(args, { HUB_DATABASE_FILE: file });
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toContain(`database file ${file}: `);
        expect(readFileSync(file).equals(content)).toBe(true);
      }
    }
  });

  it("reads its file, and shows the configuration without secrets", async () => {
    const file = join(folder.path, "hub.json");
    writeFileSync(
      file,
      JSON.stringify({ port: 4711, databaseUrl: "postgres://u:topsecret@h/d", metricsToken: "0123456789abcdef" }),
    );
    const { json, stdout } = await run(["config", "--config", file], { HUB_KEY_RATE: "3" });
    expect(json).toMatchObject({ port: 4711, keyRate: 3, databaseUrl: "postgres://***@h/d", metricsToken: "***" });
    expect(stdout).not.toContain("topsecret");
    const behind = await run(["config"], { DATABASE_URL: "postgres://h/d?user=u&password=topsecret" });
    expect(behind.json).toMatchObject({ databaseUrl: "postgres://h/d?***" });
  });

  it("takes a port that is in use for what it is", async () => {
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const hub = await HubProcess.start(env);
    const second = await run(["serve"], { ...env, HUB_PORT: String(hub.port) });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("EADDRINUSE");
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
    await hub.stop();
  });

  it("imports all devices or none when it is killed in the middle", async () => {
    // Several times what SQLite holds in memory: it writes to its log long before the end of the transaction.
    const MANY = 25_000;
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_MAX_DEVICES: String(MANY) };
    const log = `${env.HUB_DATABASE_FILE}-wal`;
    const logged = (): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const input = Array.from({ length: MANY }, (_, i) => `device ${i} `.padEnd(100, "x")).join("\n");
    const inTeam = async (team: string): Promise<number> =>
      ((await run(["devices", "list", "--team", team], env)).json as unknown[]).length;
    let middle = 0;
    // On a busy machine a kill may come when all is done; then once more, for a team that has none yet.
    for (let i = 0; i < 10 && middle < 3; i++) {
      const team = `T${i}`;
      await run(["teams", "add", "--name", team], env);
      const before = logged();
      const { signal } = await run(["devices", "import", "--team", team, "-"], env, {
        input,
        killWhen: () => logged() > before + 100_000 * (1 + i),
      });
      const written = logged() - before;
      const count = await inTeam(team);
      expect([0, MANY]).toContain(count);
      // Killed with part of the devices on the disk.
      if (signal === "SIGKILL" && written > 0 && count === 0) middle++;
    }
    expect(middle).toBeGreaterThan(0);
    await run(["teams", "add", "--name", "last"], env);
    expect((await run(["devices", "import", "--team", "last", "-"], env, { input: "one\ntwo" })).json).toEqual({
      imported: 2,
    });
    expect(await inTeam("last")).toBe(2);
  });
});

describe.skipIf(!inject("openssl"))("TLS with a certificate of its own", () => {
  it("lets the hub listen on any address: HTTPS of version 1.2 and up, and nothing else", async () => {
    const certificate = join(folder.path, "cert.pem");
    const privateKey = join(folder.path, "key.pem");
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-noenc",
        "-keyout",
        privateKey,
        "-out",
        certificate,
      ].concat(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]),
      { stdio: "pipe" },
    );
    const plain = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const init = await run(["init", "--email", "root@example.org"], plain);
    const maker = await HubProcess.start(plain);
    const key = await makeKey(await useLinkAt(maker.url, init.json.link as string), init.json.team.id as string);
    await maker.stop();
    const tls = { HUB_TLS_CERT: certificate, HUB_TLS_KEY: privateKey, HUB_BASE_URL: "https://localhost" };
    expect((await run(["serve"], { ...plain, ...tls, HUB_TLS_KEY: certificate })).code).toBe(1);
    const hub = await HubProcess.start({ ...plain, ...tls, HUB_HOST: "0.0.0.0" });
    const ca = readFileSync(certificate);
    const get = (path: string, options: RequestOptions, body?: string) =>
      new Promise<{ status: number | undefined; text: string; headers: IncomingHttpHeaders; protocol: string | null }>(
        (resolve, reject) => {
          const sent = request(
            { host: "127.0.0.1", servername: "localhost", port: hub.port, path, ca, agent: false, ...options },
            (response) => {
              // Asked now: at the end of the answer the connection is gone.
              const protocol = (response.socket as TLSSocket).getProtocol();
              let text = "";
              response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
              response.on("end", () =>
                resolve({ status: response.statusCode, text, headers: response.headers, protocol }),
              );
            },
          );
          sent.on("error", reject);
          sent.end(body);
        },
      );
    expect(await get("/readyz", {})).toMatchObject({ status: 200, text: "ready\n", protocol: "TLSv1.3" });
    expect(await get("/readyz", { maxVersion: "TLSv1.2" })).toMatchObject({ status: 200, protocol: "TLSv1.2" });
    await expect(
      get("/readyz", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
    ).rejects.toThrow();
    // Without our certificate as its authority a client does not believe it.
    await expect(get("/readyz", { ca: undefined })).rejects.toThrow(/self-signed/);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const list = await get("/graphql", { method: "POST", headers }, JSON.stringify({ query: LIST }));
    expect([list.status, list.text]).toEqual([200, '{"data":{"team":{"devices":{"nodes":[]}}}}']);
    expect((await get("/sign-in", {})).headers["strict-transport-security"]).toBe("max-age=31536000");
    // Plain HTTP on that port is no HTTP to it: no answer, and the hub goes on.
    await expect(fetch(`http://127.0.0.1:${hub.port}/readyz`)).rejects.toThrow();
    expect((await get("/healthz", {})).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    expect(hub.output).not.toContain(key.slice(17));

    // Nor does it wait long for a greeting.
    const hasty = await startHub({ env: tls, timeouts: { headers: 500, request: 1000 } });
    const mute = connect(hasty.running.port, "127.0.0.1").on("error", () => undefined);
    await new Promise((resolve) => mute.resume().on("close", resolve));
    await hasty.stop();
  });
});

describe("SIGTERM", () => {
  const LIST_BODY = JSON.stringify({ query: LIST });

  /** A request whose last bytes are still to come. `underWay`: the hub has read its headers, and says so. */
  function slowRequest(
    port: number,
    key: string,
  ): { underWay: Promise<void>; finish: () => void; done: Promise<string> } {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const underWay = new Promise<void>((resolve, reject) => {
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.startsWith("HTTP/1.1 100 Continue")) resolve();
      });
      socket.on("close", () => reject(new Error(`got ${JSON.stringify(text)}, expected 100 Continue`)));
    });
    const done = new Promise<string>((resolve, reject) => {
      socket.on("close", () => resolve(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")));
      socket.on("error", reject);
    });
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${LIST_BODY.length}\r\n\r\n${LIST_BODY.slice(0, 10)}`,
    );
    return { underWay, finish: () => void socket.write(LIST_BODY.slice(10)), done };
  }

  const refuses = (hub: HubProcess): Promise<boolean> =>
    fetch(`${hub.url}/healthz`).then(
      () => false,
      () => true,
    );

  it("waits for a request under way, and not for connections that ask for nothing", async () => {
    const busyEnv = { HUB_DATABASE_FILE: join(folder.path, "busy.db") };
    const init = await run(["init", "--email", "root@example.org"], busyEnv);
    const busy = await HubProcess.start(busyEnv);
    const key = await makeKey(await useLinkAt(busy.url, init.json.link as string), init.json.team.id as string);
    const hub = await HubProcess.start({ HUB_DATABASE_FILE: join(folder.path, "hub.db") });
    const silent = ["", "GET /healthz HT"].map((start) => {
      const socket = connect(hub.port, "127.0.0.1");
      const open = new Promise<void>((resolve) => socket.on("connect", () => socket.write(start, () => resolve())));
      return { open, closed: new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve)) };
    });
    await Promise.all(silent.map(({ open }) => open));
    // Connections are taken in their order: this answer says that the hub has those.
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);

    // Another hub is the measure: it is told to end first, and waits for its request as long as any hub waits.
    const slow = slowRequest(busy.port, key);
    await slow.underWay;
    busy.signal("SIGTERM");
    await until(() => refuses(busy));
    hub.signal("SIGTERM");
    expect(
      await Promise.race([
        hub.ended.then((code) => ["the silent one", code]),
        busy.ended.then((code) => ["the busy one", code]),
      ]),
    ).toEqual(["the silent one", 0]);
    expect(hub.output).toContain('"msg":"stopped"');
    await Promise.all(silent.map(({ closed }) => closed));

    expect(busy.output).not.toContain('"msg":"stopped"');
    slow.finish();
    expect(await slow.done).toMatch(/^HTTP\/1\.1 200 .*"devices"/is);
    expect(await busy.ended).toBe(0);
  });

  it("answers what is under way, says so on /readyz, then ends with 0", async () => {
    // Long enough for three requests on a busy machine. A request that began before is within its own limit after.
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_DRAIN_SECONDS: "10" };
    const init = await run(["init", "--email", "root@example.org"], env);
    const hub = await HubProcess.start(env);
    const key = await makeKey(await useLinkAt(hub.url, init.json.link as string), init.json.team.id as string);
    const slow = Array.from({ length: 64 }, () => slowRequest(hub.port, key));
    await Promise.all(slow.map(({ underWay }) => underWay));
    hub.signal("SIGTERM");
    await until(() => Promise.resolve(hub.output.includes('"msg":"draining"')));
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
    expect(await ask(hub.url, key)).toBe(200);
    await until(() => refuses(hub));
    await expect(fetch(`${hub.url}/healthz`)).rejects.toThrow();
    for (const { finish } of slow) finish();
    const answers = await Promise.all(slow.map(({ done }) => done));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"devices"/is);
    expect(await hub.ended).toBe(0);
    expect(hub.output).toContain('"msg":"stopped"');
    expect((await run(["audit", "--limit", "1"], env)).code).toBe(0);
  });
});

describe.skipIf(inject("postgres") === undefined)("a PostgreSQL that goes away (20)", () => {
  it("is said on /readyz, not on /healthz; requests get 503; and all is well again without a restart", async () => {
    const server = await PostgresServer.create();
    const env = { DATABASE_URL: await server.newDatabase() };
    const init = await run(["init", "--email", "root@example.org"], env);
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const key = await makeKey(person, init.json.team.id as string);
    const ready = async (): Promise<number> => (await fetch(`${hub.url}/readyz`)).status;
    expect([await ready(), await ask(hub.url, key)]).toEqual([200, 200]);
    for (const end of ["stop", "kill"] as const) {
      await server[end]();
      await until(async () => (await ready()) === 503);
      expect(await ready()).toBe(503);
      expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
      expect(await ask(hub.url, key)).toBe(503);
      expect((await person.get(`/teams/${init.json.team.id}/devices`)).status).toBe(503);
      await server.start();
      await until(async () => (await ready()) === 200);
      expect([await ready(), await ask(hub.url, key)]).toEqual([200, 200]);
      expect((await person.get(`/teams/${init.json.team.id}/devices`)).status).toBe(200);
    }
    expect(await hub.stop()).toBe(0);
    await server.remove();
  });
});
