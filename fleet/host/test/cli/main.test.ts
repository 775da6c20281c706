import { existsSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess, runCommand } from "../support/process.ts";

test("help names every option", async () => {
  const { code, output } = await runCommand(["--help"]);
  expect(code).toBe(0);
  for (const flag of ["--agent-token", "--page-token", "--nats", "--keep-days", "--max-packet-bytes", "--config"])
    expect(output).toContain(flag);
});

test("a wrong configuration ends with every problem, and code 2", async () => {
  const { code, output } = await runCommand(["--port", "x", "--address", "0.0.0.0", "--queue", "0"]);
  expect(code).toBe(2);
  for (const part of ["3 problems", "port: got", "address: got", "queue: got"]) expect(output).toContain(part);
  expect((await runCommand(["--colour", "red"])).code).toBe(2);
  const wrong = await runCommand(["--prot", "1", "--keepdays=2", "stray", "--queue", "0"], {
    BOXWRIGHT_PAGETOKEN: "x",
  });
  for (const part of [
    "5 problems",
    "--prot: is not known. Did you mean --port?",
    "--keepdays: is not known. Did you mean --keep-days?",
    '"stray": belongs to no flag',
    "BOXWRIGHT_PAGETOKEN: got a variable that nobody reads. Did you mean BOXWRIGHT_PAGE_TOKEN?",
    "queue: got",
  ])
    expect(wrong.output).toContain(part);
  expect((await runCommand(["--config", "/none.json"])).output).toContain("expected a readable file");
});

test("a port, an address or a database that cannot be used is told in a sentence", async () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "photo.jpg");
  writeFileSync(file, "no database, and not empty either: longer than the header of one".repeat(4));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const tokens = ["--agent-token", "agent-token-0123456789", "--page-token", "page-token-0123456789"];
  const database = ["--database", join(folder.path, "host.db")];
  const cases: [string[], number, string | RegExp][] = [
    [["--port", String(port), ...database], 2, `port: got ${port}, which another program listens on`],
    [["--port", "0", "--address", "192.0.2.1", ...tokens, ...database], 2, "address: got 192.0.2.1"],
    [["--port", "http"], 2, 'port: got "http", expected a whole number from 0 to 65535'],
    [["--nats", "localhost:4222"], 2, "nats: got a text of 14 characters, expected an address like nats://"],
    [["--agent-token", "short"], 2, "agentToken: got a text of 5 characters, expected at least 16"],
    [["--port", "0", "--database", folder.path], 2, "is a folder; expected a SQLite file"],
    [["--port", "0", "--database", file], 2, /database file .*photo\.jpg: .*expected a SQLite file/],
    [["--port", "0", "--database", join(file, "host.db")], 2, /database file .*expected a SQLite file/],
    [["--port", "0", "--database", join(folder.path, "none", "host.db")], 2, /folder .*none, which does not exist/],
    [["--port", "0", "--database", "postgress://a:secret@h/x"], 2, "Did you mean postgres://?"],
  ];
  for (const [args, expected, message] of cases) {
    const { code, output } = await runCommand(args);
    expect(output).toMatch(message);
    expect(output.trim().split("\n"), output).toHaveLength(1);
    expect(output).not.toContain("secret");
    expect(code, output).toBe(expected);
  }
  expect(existsSync(join(folder.path, "none"))).toBe(false);
  other.close();
  folder.remove();
});

test.skipIf(inject("postgres") === undefined)(
  "a missing database or role of PostgreSQL is told in a line",
  async () => {
    const server = inject("postgres")!;
    for (const [address, message] of [
      [server.replace(/postgres$/, "none"), 'database "none" does not exist'],
      [server.replace("postgres@", "nobody:secret@"), 'role "nobody" does not exist'],
    ] as const) {
      const { code, output } = await runCommand(["--port", "0", "--database", address]);
      expect(code, output).toBe(2);
      expect(output).toContain(message);
      expect(output.trim().split("\n")).toHaveLength(1);
      expect(output).not.toContain("secret");
    }
  },
);

test("configs that are none are told at start", async () => {
  const folder = temporaryFolder();
  const files = ["a.json", "b.json"].map((name) => join(folder.path, name));
  writeFileSync(files[0]!, "{");
  writeFileSync(files[1]!, '{"family":"yolov99"}');
  const args = ["--database", join(folder.path, "x.db"), "--port", "0", "--configs", files.join(",")];
  const { code, output } = await runCommand(args);
  expect(code).toBe(2);
  for (const file of files) expect(output).toContain(file);
  folder.remove();
});

test("SIGTERM ends the host in order, and its file is its owner's alone", async () => {
  const folder = temporaryFolder();
  const database = join(folder.path, "host.db");
  const host = await HostProcess.start({ database });
  expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
  await host.says(/this machine alone can reach the host. For others, set agentToken \(or hub\) and pageToken/);
  expect(existsSync(database) && statSync(database).mode & 0o777).toBe(0o600);
  expect(await host.end("SIGTERM")).toBe(0);
  folder.remove();
});

test.each([{ "agent-token": "agent-token-0123456789" }, { hub: "http://127.0.0.1:9" }])(
  "a host that others reach warns of tokens in clear text: %o",
  async (senders) => {
    const folder = temporaryFolder();
    const flags = { database: join(folder.path, "host.db"), "page-token": "page-token-0123456789", ...senders };
    const host = await HostProcess.start(flags);
    await host.says(/tokens travel in clear text/);
    expect(host.output).not.toContain("this machine alone");
    expect(await host.end("SIGTERM")).toBe(0);
    folder.remove();
  },
);
