/** `npm run demo`: what it makes, and what it deletes. */
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/hub.ts";
import { freePort } from "boxwright-service/testing/free-port";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Starts the demo, waits until it prints how to stop it, and stops it. Returns its output. */
async function demo(folder: string): Promise<string> {
  const env = { ...process.env, HUB_PORT: String(await freePort()) };
  const child = spawn(process.execPath, [join(root, "out/scripts/demo.js"), folder], { env });
  let said = "";
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (!child.killed && said.includes("Ctrl-C stops it")) child.kill("SIGTERM");
    });
  await ended;
  const url = /runs at (\S+)/.exec(said)?.[1];
  // The hub ends with the demo: nothing listens any more.
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  return said;
}

describe("the demo", () => {
  it("says that it deletes the demo before it", async () => {
    const compiler = join(root, "../../node_modules/typescript-7/bin/tsc");
    execFileSync(process.execPath, [compiler, "-p", "tsconfig.scripts.json"], { cwd: root });
    const folder = temporaryFolder();
    const data = join(folder.path, "demo");
    const first = await demo(data);
    expect(first).toContain("three devices");
    expect(first).not.toContain("Deletes");
    expect(await demo(data)).toContain(`Deletes the earlier demo in ${data}: its team, people and keys are gone.`);
    folder.remove();
  });
});
