/** Dashboard and alert rules of Prometheus name metrics that the hub has. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startHub } from "../support/hub.ts";

const FILES = ["rules.yml", "grafana/fleet.json"];
const read = (file: string): string => readFileSync(new URL(`../../../monitoring/${file}`, import.meta.url), "utf8");

/** Returns the names that a scrape has, with those of the parts of histograms. */
const namesOf = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, kind]) =>
    kind === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name! + part) : [name!],
  );

it.each(FILES)("%s of monitoring/ names metrics of the hub that are there", async (file) => {
  const hub = await startHub();
  const names = namesOf(await (await fetch(`${hub.url}/metrics`)).text());
  await hub.stop();
  const asked = [...read(file).matchAll(/\b(hub|process|nodejs)_\w+/g)].map(([name]) => name);
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter((name) => !names.includes(name))).toEqual([]);
});

it("every name of an own metric begins as the services' do", () => {
  for (const file of FILES)
    for (const [, expr] of read(file).matchAll(/expr"?: (?:>-\s+)?(.+)$/gm))
      expect(expr).toMatch(/\b(hub_|boxwright_host_|process_|up\{)/);
});

it("every series of the hub that a rule counts is there from the start: an increase from nothing is none", async () => {
  const hub = await startHub();
  const scrape = await (await fetch(`${hub.url}/metrics`)).text();
  await hub.stop();
  const counted = [...read("rules.yml").matchAll(/\b(hub_\w+_total)(?:\{(\w+)=~?"([\w|]+)"\})?/g)];
  const series = counted.flatMap(([, name, label, values]) =>
    label === undefined ? [name!] : values!.split("|").map((value) => `${name}{${label}="${value}"}`),
  );
  expect(series.length).toBeGreaterThan(4);
  expect(series.filter((one) => !scrape.includes(`\n${one} 0\n`))).toEqual([]);
});

it.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("promtool takes the rules, and each one fires", () => {
  const folder = fileURLToPath(new URL("../../../monitoring/", import.meta.url));
  const promtool = (...args: string[]) =>
    execFileSync("promtool", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  expect(promtool("check", "rules", "rules.yml")).toContain("SUCCESS");
  expect(promtool("test", "rules", "rules.test.yml")).toContain("SUCCESS");
  const fires = read("rules.test.yml").matchAll(/alertname: (\w+)\n {8}exp_alerts:\n/g);
  const rules = read("rules.yml").matchAll(/alert: (\w+)/g);
  expect([...fires].map(([, name]) => name).sort()).toEqual([...rules].map(([, name]) => name).sort());
});
