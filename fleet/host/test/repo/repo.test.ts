import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { testLayers } from "boxwright-service/testing/layers";
import { expect, inject, test } from "vitest";
import { options } from "../../src/core/config.ts";
import { MOST_CONNECTIONS } from "../../src/host.ts";
import { BODIES_OF_DEVICE } from "../../src/http/devices.ts";
import { PICTURE_BYTES } from "../../src/live/previews.ts";
import { temporaryFolder } from "../support/host.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

testLayers(
  join(root, "src"),
  [
    "core",
    "store",
    "decode",
    "intake",
    "live",
    "webhook",
    "nats",
    "mqtt",
    "announce",
    "access",
    "http",
    "host.ts",
    "cli",
  ],
  // Each way into the host has a file of its own for configs and previews.
  ["configs", "previews", "query"],
);

test("pages have at most 1,200 words, and their links lead somewhere", () => {
  const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
  for (const page of pages) {
    const text = read(page);
    expect(text.split(/\s+/).length, page).toBeLessThanOrEqual(1200);
    for (const [, link] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g))
      if (!link!.includes(":"))
        expect(() => readFileSync(join(root, dirname(page), link!)), `${page}: ${link}`).not.toThrow();
  }
});

test("the README names every option that has a token or a limit", () => {
  const text = read("README.md");
  const told = Object.keys(options).filter((name) =>
    /token|^max|nats|mqtt|webhook|database|address|keep|partitions|configs/i.test(name),
  );
  for (const name of told) expect(text, name).toContain(`\`${name}\``);
});

test("the table of limits names options and metrics that are there, every limit, and the counts of the code", () => {
  const [, table] = /^## Host\n(.*?)^## /ms.exec(read("../docs/limits.md"))!;
  const rows = table!.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| limit"));
  const namesIn = (text: string): string[] => [...text.matchAll(/`(\w+)/g)].map(([, name]) => name!);
  const limits = rows.flatMap((row) => namesIn(row.split("|")[1]!));
  expect(limits.filter((name) => !Object.hasOwn(options, name))).toEqual([]);
  const told = /^(max|keep)|Rate$|^(queue|inFlight|streamBytes|previewsPerSecond)$/;
  expect(Object.keys(options).filter((name) => told.test(name) && !limits.includes(name))).toEqual([]);
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((f) =>
    f.endsWith(".ts"),
  );
  const code = sources.map((file) => read(`src/${file}`)).join("\n");
  for (const name of rows.flatMap((row) => namesIn(row.split("|").at(-2)!))) expect(code, name).toContain(`"${name}"`);
  expect(table).toContain(`| ${BODIES_OF_DEVICE} bodies at once |`);
  expect(table).toContain(`| ${MOST_CONNECTIONS.toLocaleString("en")} open connections |`);
  expect(table).toContain(`${PICTURE_BYTES / 2 ** 20} MiB of pictures`);
});

test.skipIf(!inject("systemd"))("the systemd unit is sound", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "bin"));
  const command = join(folder.path, "bin/boxwright-host");
  writeFileSync(command, "#!/bin/sh\n", { mode: 0o755 });
  const unit = join(folder.path, "boxwright-host.service");
  writeFileSync(
    unit,
    read("deploy/boxwright-host.service").replaceAll("ExecStart=boxwright-host", `ExecStart=${command}`),
  );
  const { stderr, status } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  expect(stderr.split("\n").filter((line) => line.includes("boxwright-host"))).toEqual([]);
  expect(status).toBe(0);
  folder.remove();
});

test.skipIf(!inject("nats"))("the broker's configuration is sound", () => {
  const path = join(root, "deploy/nats.conf");
  const { status, stderr } = spawnSync("nats-server", ["-t", "-c", path], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` },
  });
  expect(stderr).toContain("is valid");
  expect(status).toBe(0);
});
