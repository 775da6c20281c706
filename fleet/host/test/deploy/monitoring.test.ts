/** Dashboard and alert rules of Prometheus name metrics that the host has. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { testHost } from "../support/host.ts";

const FILES = ["rules.yml", "grafana/fleet.json"];
const read = (file: string): string => readFileSync(new URL(`../../../monitoring/${file}`, import.meta.url), "utf8");

/** Returns the names that a scrape has, with those of the parts of histograms. */
const namesOf = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, kind]) =>
    kind === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name! + part) : [name!],
  );

it.each(FILES)("%s of monitoring/ names metrics of the host that are there", async (file) => {
  const host = await testHost();
  const names = namesOf(await (await fetch(`${host.url}/metrics`)).text());
  await host.end();
  const asked = [...read(file).matchAll(/\b(boxwright_host|process|nodejs)_\w+/g)].map(([name]) => name);
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter((name) => !names.includes(name))).toEqual([]);
});
