/** The services wait at the start for what is missing, and say so. Limits of the system end in a sentence. */
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { freePort } from "boxwright-service/testing/free-port";
import { PostgresServer } from "boxwright-service/testing/postgres";
import { until } from "boxwright-service/testing/wait";
import { COMMAND } from "../support/process.ts";

afterAll(() => Child.killAll());

const startAt = (port: number, database: string): Child =>
  new Child([process.execPath, COMMAND, "--port", String(port), "--threads", "1", "--database", database]);
const statusOf = (port: number): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    async (answer) => `${answer.status} ${await answer.text()}`,
    () => "no answer",
  );

test.skipIf(inject("postgres") === undefined)("PostgreSQL comes after the host", async () => {
  const server = await PostgresServer.create();
  const database = await server.newDatabase();
  await server.stop();
  const port = await freePort();
  const host = startAt(port, database);
  await host.says(/the database cannot be reached .*"cannot start yet, trying again"/);
  await until(async () => /^503 .*the database cannot be reached/.test(await statusOf(port)));
  await server.start();
  await host.says(/"listening"/);
  expect(await statusOf(port)).toMatch(/^200/);
  // A reason is logged once, however often it is met.
  expect(host.output.match(/cannot be reached/g)).toHaveLength(1);
  expect(await host.end("SIGTERM")).toBe(0);
  await server.remove();
});

test("SIGTERM ends a host that waits at once", async () => {
  const host = startAt(await freePort(), "postgres://nobody:secret@127.0.0.1:1/none");
  await host.says(/cannot start yet/);
  expect(await host.end("SIGTERM")).toBe("SIGTERM");
  expect(host.output).not.toContain("secret");
});

test.each(["host", "hub", "agent"])("%s: a limit of 64 open files is told in a sentence", async (part) => {
  const command = join(COMMAND, "../../../..", part, "dist/cli/main.js");
  const child = new Child(["sh", "-c", `ulimit -n 64; exec "$0" "$1" --help`, process.execPath, command]);
  const { code, text } = await child.ended;
  expect([code, text]).toEqual([
    2,
    expect.stringMatching(/^(boxwright-)?\w+: open files: got a limit of 64, expected at least 256; .*\n$/),
  ]);
  const enough = new Child(["sh", "-c", `ulimit -n 256; exec "$0" "$1" --help`, process.execPath, command]);
  expect((await enough.ended).code).toBe(0);
});
