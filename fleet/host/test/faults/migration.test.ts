/**
 * A host of a new release starts over the database of the old one, while devices go on to send: after the old host has
 * ended, or beside it on PostgreSQL. Each frame that either acknowledged is there once, and the old release says why it
 * does not start any more.
 */
import { afterAll, expect, test, vi } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { migrations } from "../../src/store/migrations.ts";
import { detectionPacket } from "../support/frames.ts";
import { emptyDatabase, kinds, temporaryFolder, testHost } from "../support/host.ts";
import { HostProcess, runCommand } from "../support/process.ts";
import { readAll } from "../support/published.ts";

// The built command is the old release, and this process the new one, with one more step.
vi.mock("../../src/store/migrations.ts", async (original) => {
  const { migrations } = await original<typeof import("../../src/store/migrations.ts")>();
  const sql = (text: string): string =>
    `ALTER TABLE frames ADD COLUMN label ${text}; UPDATE frames SET label = subject; CREATE INDEX labels ON frames (label);`;
  return { migrations: [...migrations, { version: migrations.at(-1)!.version + 1, name: "labels", sql }] };
});

afterAll(() => Child.killAll());

/** Senders that go on whatever they meet, as agents do. `urls` is asked before each attempt. */
function startSenders(urls: () => readonly string[]) {
  const acknowledged: number[] = [];
  let isOver = false;
  const attempt = (n: number): Promise<boolean> =>
    fetch(`${urls()[n % urls().length]}/v1/packets`, {
      method: "POST",
      body: detectionPacket(n) as Uint8Array<ArrayBuffer>,
    }).then(
      ({ status }) => status === 204,
      () => false,
    );
  const all = [0, 1, 2, 3].map(async (first) => {
    for (let n = first; !isOver; n += 4) {
      while (!(await attempt(n))) await new Promise((resolve) => setTimeout(resolve, 5));
      acknowledged.push(n);
    }
  });
  const stop = async (): Promise<string[]> => {
    isOver = true;
    await Promise.all(all);
    return acknowledged.map((n) => `frame-${n}`).sort();
  };
  const more = (count: number): Promise<unknown> => {
    const enough = acknowledged.length + count;
    return until(() => acknowledged.length >= enough, `${count} more frames`);
  };
  return { more, stop };
}

const idsOf = async (url: string): Promise<string[]> => (await readAll(url)).map(({ id }) => id).sort();

for (const { kind, skip } of kinds)
  test.skipIf(skip)(`${kind}: the new host takes the place of the old one`, async () => {
    const folder = temporaryFolder();
    const database = await emptyDatabase(kind, folder.path);
    const old = await HostProcess.start({ database });
    const senders = startSenders(() => [old.url]);
    await senders.more(40);
    expect(await old.end("SIGTERM")).toBe(0);
    const host = await testHost({ database, port: Number(new URL(old.url).port) });
    await senders.more(20);
    const acknowledged = await senders.stop();
    expect(await idsOf(host.url)).toEqual(acknowledged);
    await host.end();
    const { code, output } = await runCommand(["--port", "0", "--threads", "1", "--database", database]);
    const { version } = migrations.at(-1)!;
    const refusal = `version ${version}, expected at most ${version - 1}: this host is older`;
    expect([code, output]).toEqual([2, expect.stringContaining(refusal)]);
  });

test.skipIf(kinds[1].skip)("postgres: the new host starts beside the old one, which goes on", async () => {
  const database = await emptyDatabase("postgres", temporaryFolder().path);
  const old = await HostProcess.start({ database });
  let urls = [old.url];
  const senders = startSenders(() => urls);
  await senders.more(40);
  const host = await testHost({ database });
  urls = [old.url, host.url];
  await senders.more(40);
  urls = [host.url];
  expect(await old.end("SIGTERM")).toBe(0);
  await senders.more(20);
  const acknowledged = await senders.stop();
  expect(await idsOf(host.url)).toEqual(acknowledged);
  await host.end();
});
