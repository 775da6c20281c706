import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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
  expect((await runCommand(["--config", "/none.json"])).output).toContain("expected a readable file");
});

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
  const database = join(folder.path, "data", "host.db");
  const host = await HostProcess.start({ database });
  expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
  expect(host.output()).toContain("this machine alone");
  expect(existsSync(database) && statSync(database).mode & 0o777).toBe(0o600);
  expect(await host.end("SIGTERM")).toBe(0);
  folder.remove();
});
