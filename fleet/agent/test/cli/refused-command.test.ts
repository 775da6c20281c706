import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRefused } from "../../src/cli/refused-command.ts";
import { RefusedFolder } from "../../src/sinks/refused.ts";
import { Spool } from "../../src/spool/spool.ts";
import { MODEL } from "../support/echo.ts";
import { temporaryFolder } from "../support/folder.ts";

const LIMITS = { maxBytes: 2 ** 20, policy: "block", fsync: "never", refusedBytes: 2 ** 20 } as const;

test("refused packets are listed with their reason, and come back into the spool or go", async () => {
  const folder = temporaryFolder();
  const state = join(folder, "state");
  mkdirSync(state);
  const file = join(folder, "settings.json");
  const network = { model: MODEL };
  const sinks = [{ kind: "ndjson", path: "out.ndjson" }];
  writeFileSync(file, JSON.stringify({ state, network, sinks, sources: [{ kind: "folder", path: "." }] }));
  const refused = new RefusedFolder(state, LIMITS.refusedBytes);
  for (const n of [1, 2, 3]) refused.store(new Uint8Array([n, n]), "ndjson", `400 reason ${n}`);
  const listed = (await runRefused(["list", file])).trim().split("\n");
  expect(listed).toHaveLength(3);
  expect(listed.join("\n")).toMatch(/2 bytes, ndjson: no packet: 400 reason 1/);
  const [name] = listed[0]!.split(" ");
  expect(await runRefused(["delete", file, name!])).toBe("1 deleted\n");
  expect(await runRefused(["resend", file])).toMatch(/^2 in the spool again\. Start/);
  expect(await runRefused(["list", file])).toBe("");
  const spool = new Spool(join(state, "spool"), ["ndjson"], LIMITS);
  expect(spool.waiting).toBe(2);
  spool.close();
  await expect(runRefused(["resend", file, "nope"])).rejects.toThrow('got "nope", expected a name of the list');
  await expect(runRefused(["shred", file])).rejects.toThrow(/refused list SETTINGS.json/);
});
