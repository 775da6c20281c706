/** The command: what it says, its exit codes, its configuration. */
import { readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/hub.ts";
import { freePort } from "boxwright-service/testing/free-port";
import { HubProcess, run, type Environment } from "../support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

describe("the command", () => {
  it("says got and expected, on standard error, with the exit code 2 for a wrong call and 1 for what cannot be", async () => {
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    await run(["migrate", "--create"], env);
    const cases: [string[], Environment, number, RegExp][] = [
      [[], env, 2, /got no command/],
      [["keys"], env, 2, /got command "keys", expected one of: serve, .*keys revoke/],
      [
        ["keys", "revoke", "--team", "x"],
        env,
        2,
        /^hub: got no --key\. Usage: boxwright-hub keys revoke --team TEAM --key PUBLIC_ID[^\n]*\n$/,
      ],
      [["teams", "add", "--nam", "x"], env, 2, /^hub: --nam[^\n]* Usage: boxwright-hub teams add[^\n]*\n$/],
      [
        ["teams", "list"],
        { ...env, HUB_PORT: "x", HUB_LOG_LEVEL: "y" },
        2,
        /2 problems .*HUB_PORT: got "x".*HUB_LOG_LEVEL/s,
      ],
      [["teams", "list", "--config", "/does/not/exist"], env, 2, /expected a readable file/],
      [["serve"], { ...env, HUB_HOST: "0.0.0.0" }, 2, /without TLS/],
      [["serv"], env, 2, /^hub: got command "serv". Did you mean serve\?\n$/],
      [
        ["serve", "--create"],
        { ...env, HUB_FILES: "/dev/null/x" },
        1,
        /^hub: HUB_FILES: got \/dev\/null\/x, which.*\n$/,
      ],
      [
        ["serve", "--create"],
        { ...env, HUB_TLS_CERT: "/none", HUB_TLS_KEY: "/none", HUB_BASE_URL: "https://hub.example.org" },
        1,
        /^hub: HUB_TLS_CERT: got \/none, which cannot be read.*\n$/,
      ],
      [["teams", "rename", "--team", "x", "--name", "y"], env, 1, /got team "x", expected/],
      [
        ["teams", "list"],
        { DATABASE_URL: `postgres://u:topsecret@127.0.0.1:${await freePort()}/x` },
        1,
        /database cannot be reached/,
      ],
      [["serve", "--create"], { HUB_DATABASE_FILE: "/dev/null/hub.db" }, 1, /hub: /],
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
    for (const word of [
      "boxwright-hub init",
      "boxwright-hub serve",
      "boxwright-hub keys revoke",
      "DATABASE_URL",
      "HUB_PROXY_HOPS",
    ])
      expect(help.stdout).toContain(word);
  });

  it("makes no database in the wrong folder, names the file it looked for, and asks for --create", async () => {
    const file = join(realpathSync(folder.path), "hub.db");
    const commands = [
      ["serve"],
      ["migrate"],
      ["teams", "list"],
      ["users", "reset", "--email", "a@example.org"],
      ["keys", "revoke", "--team", "x", "--key", "abcdefghijkl"],
      ["backup", "--out", join(folder.path, "backup.gz")],
      ["restore", "--from", join(folder.path, "backup.gz")],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await run(args, {}, { cwd: folder.path });
      expect([args, code, stdout]).toEqual([args, 1, ""]);
      expect(stderr).toContain(`got no database file at ${file}, expected one`);
      expect(stderr).toMatch(/HUB_DATABASE_FILE, or add --create/);
      expect([args, readdirSync(folder.path)]).toEqual([args, []]);
    }
    // With the word it is made, and then it is there.
    expect((await run(["migrate", "--create"], {}, { cwd: folder.path })).code).toBe(0);
    expect((await run(["teams", "list"], {}, { cwd: folder.path })).json).toEqual([]);
  });

  it("makes no database for a call of init with a wrong argument", async () => {
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const [email, team] = await Promise.all([
      run(["init", "--email", "nobody"], env),
      run(["init", "--email", "root@example.org", "--team", ""], env),
    ]);
    expect([email.code, email.stderr]).toEqual([1, expect.stringMatching(/^hub: email: got "nobody", expected/)]);
    expect([team.code, team.stderr]).toEqual([1, expect.stringMatching(/^hub: team name: got 0 characters/)]);
    expect(readdirSync(folder.path)).toEqual([]);
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
    const mail = { HUB_SMTP_URL: "smtps://u:topsecret@mail.example.org", HUB_MAIL_FROM: "hub@example.org" };
    const provider = { HUB_OIDC_ISSUER: "https://login.example.org", HUB_OIDC_CLIENT_ID: "hub" };
    const others = await run(["config"], { ...mail, ...provider, HUB_OIDC_CLIENT_SECRET: "topsecret" });
    expect(others.json).toMatchObject({ smtpUrl: "smtps://***@mail.example.org", oidcClientSecret: "***" });
  });

  it("takes a port that is in use for what it is", async () => {
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const hub = await HubProcess.start(env);
    const second = await run(["serve"], { ...env, HUB_PORT: String(hub.port) });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("which another program listens on");
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
    await hub.stop();
  });

  it("imports all devices or none when it is killed in the middle", async () => {
    // Several times what SQLite holds in memory: it writes to its log long before the end of the transaction.
    const MANY = 20_000;
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_MAX_DEVICES: String(MANY) };
    const log = `${env.HUB_DATABASE_FILE}-wal`;
    await run(["migrate", "--create"], env);
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
