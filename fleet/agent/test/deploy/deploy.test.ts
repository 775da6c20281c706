import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { interfacesOf } from "../../src/core/machine.ts";
import { temporaryFolder } from "../support/folder.ts";

const HERE = fileURLToPath(new URL("../..", import.meta.url));

describe("what is delivered", () => {
  it("the unit is one that systemd understands, and leaves little open", () => {
    const unit = readFileSync(join(HERE, "deploy", "boxwright-agent.service"), "utf8");
    const path = join(temporaryFolder(), "boxwright-agent.service");
    // The command is not installed here.
    writeFileSync(path, unit.replace("ExecStart=boxwright-agent-launcher", "ExecStart=/bin/true"));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect(stderr).not.toMatch(/boxwright-agent\.service/);
    expect(status).toBe(0);
    const security = execFileSync("systemd-analyze", ["security", "--offline=true", path], { encoding: "utf8" });
    expect(Number(/exposure level.*?: ([\d.]+)/.exec(security)![1])).toBeLessThan(3);
  });

  it("an agent whose system keeps the addresses of the machine from it does without them", () => {
    const denied = (): never => {
      throw new Error("uv_interface_addresses returned Unknown system error 97");
    };
    expect(interfacesOf(denied)).toEqual([]);
    expect(readFileSync(join(HERE, "deploy", "boxwright-agent.service"), "utf8")).toMatch(
      /^RestrictAddressFamilies=.*AF_NETLINK/m,
    );
  });

  it("the tarball has what the command needs, and no tests", () => {
    const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: HERE,
      encoding: "utf8",
    });
    const [{ files }] = JSON.parse(json) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    for (const path of [
      "README.md",
      "docs/delivery.md",
      "package.json",
      "dist/cli/main.js",
      "dist/cli/launch.js",
      "deploy/boxwright-agent.service",
    ])
      expect(paths).toContain(path);
    expect(paths.filter((path) => /^(src|test)\//.test(path))).toEqual([]);
  });

  it("the lock file has no download addresses", () => {
    expect(readFileSync(join(HERE, "../package-lock.json"), "utf8")).not.toMatch(/"resolved": *"http/);
  });

  it("the settings of README, docs/hub.md and compose.yaml are valid, and the README's links lead somewhere", async () => {
    const readme = readFileSync(join(HERE, "README.md"), "utf8");
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1200);
    for (const [, link] of readme.matchAll(/\]\(([^)#]+)\)/g))
      if (!/^https?:/.test(link!)) expect(existsSync(join(HERE, link!)), link).toBe(true);
    const { readSettings } = await import("../../src/settings/read.ts");
    const { SettingsError } = await import("../../src/core/errors.ts");
    const hub = readFileSync(join(HERE, "docs/hub.md"), "utf8");
    const compose = readFileSync(join(HERE, "../compose.yaml"), "utf8").replace(/^# */gm, "");
    const [given] = /\{ "state"[^]*? \}\n(?=\n)/.exec(compose)!;
    const fenced = [readme, hub].flatMap((text) => [...text.matchAll(/```json\n([^]*?)```/g)].map(([, json]) => json!));
    const blocks = [given, ...fenced].map((text) => JSON.parse(text) as unknown);
    expect(blocks).toHaveLength(3);
    for (const block of blocks) {
      try {
        readSettings(block, temporaryFolder());
      } catch (error) {
        // Files that the example names are not here. Anything else is wrong.
        if (!(error instanceof SettingsError)) throw error;
        const others = error.problems.filter(({ message }) => !/is no file|that exists|cannot be read/.test(message));
        expect(others).toEqual([]);
      }
    }
  });
});
