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

it.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("promtool takes the rules", () => {
  const file = fileURLToPath(new URL("../../../monitoring/rules.yml", import.meta.url));
  expect(execFileSync("promtool", ["check", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
});
