import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "boxwright-service/testing/wait";
import { expect, it, onTestFinished } from "vitest";
import { lockFolder } from "../../src/spool/lock.ts";
import { temporaryFolder } from "../support/folder.ts";

it("takes over the lock of a process that has ended and that nobody has reaped", async () => {
  const folder = temporaryFolder();
  // The shell becomes sleep, which never asks for the exit code of its child.
  const parent = spawn("sh", ["-c", "sh -c 'echo $$; exec sleep 0.2' & exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (text) => resolve(Number(text))));
  const stat = (): string => readFileSync(`/proc/${pid}/stat`, "utf8");
  const start = stat()
    .replace(/^.*\) /s, "")
    .split(" ")[19];
  writeFileSync(join(folder, "lock"), `${pid} ${start}`);
  expect(() => lockFolder(folder)).toThrow(`is used by process ${pid}`);
  await until(() => /\) Z/.test(stat()), "a zombie");
  lockFolder(folder)();
  expect(execFileSync("ls", [folder], { encoding: "utf8" })).toBe("");
});
