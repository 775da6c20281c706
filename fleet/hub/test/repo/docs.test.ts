/** README and docs/: short pages, links that lead somewhere, tables that agree with the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { options, variableOf } from "../../src/core/config.ts";
import { DEVICE_LIMIT } from "../../src/agents/routes.ts";
import { createMetrics } from "../../src/core/metrics.ts";
import { MAX_BODY } from "../../src/graphql/endpoint.ts";
import { queryCodes } from "../../src/graphql/errors.ts";
import { documentLimits } from "../../src/limits/document.ts";
import { refusals } from "../../src/http/refusals.ts";
import { MAX_FORM } from "../../src/pages/form.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))];
const read = (page: string): string => readFileSync(join(root, page), "utf8");

describe("documentation", () => {
  it.each(pages)("%s has at most 1,200 words", (page) => {
    expect(read(page).split(/\s+/).length).toBeLessThanOrEqual(1200);
  });

  it.each(pages)("%s links to files that are there", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
    for (const link of links) expect([link, existsSync(join(root, dirname(page), link))]).toEqual([link, true]);
  });

  it("README links to every page", () => {
    for (const page of pages.slice(1)) expect(read("README.md")).toContain(`(${page})`);
  });

  it("docs/endpoint.md has every refusal with its status, and the limits of a document and a form", () => {
    const text = read("docs/endpoint.md") + read("docs/devices.md");
    for (const [code, [status]] of Object.entries(refusals)) {
      const rows = text.split("\n").filter((line) => line.includes(`\`${code}\``));
      expect([code, rows.some((row) => row.includes(String(status)))]).toEqual([code, true]);
    }
    for (const code of Object.keys(queryCodes)) expect(text).toContain(`| \`${code}\` |`);
    const { tokens, depth, fields, aliases, directives } = documentLimits;
    expect(text).toContain(
      `${tokens} tokens, depth ${depth}, ${fields} fields, ${aliases} aliases, ${directives} directives`,
    );
    expect(text).toContain(`${MAX_FORM / 1024} KiB`);
  });

  it("the table of limits names settings and metrics that are there, and the counts of the code", () => {
    const [, table] = /^## Hub\n(.*?)^The host refuses/ms.exec(read("../docs/limits.md"))!;
    const rows = table!.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| limit"));
    const limits = [...table!.matchAll(/`(HUB_\w+)`/g)].map(([, name]) => name!);
    const known = Object.keys(options).map(variableOf);
    expect(limits.filter((name) => !known.includes(name))).toEqual([]);
    const told = /(RATE|BURST|BYTES|CONNECTIONS|_PER_\w+|DEVICES|DAYS)$/;
    expect(known.filter((name) => told.test(name) && !limits.includes(name))).toEqual([]);
    const metrics = createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name);
    for (const row of rows)
      for (const [, name] of row
        .split("|")
        .at(-2)!
        .matchAll(/`(\w+)\{/g))
        expect(metrics).toContain(`hub_${name}`);
    expect(table).toContain(`| ${MAX_BODY.toLocaleString("en")} bytes of a query |`);
    expect(table).toContain(`| ${DEVICE_LIMIT.rate} requests a second, ${DEVICE_LIMIT.burst} at once | one device |`);
  });

  it("names no setting that does not exist", () => {
    const known = new Set([...Object.keys(options).map(variableOf), "HUB_CONFIG", "HUB_API_KEY", "HUB_URL", "HUB_CI"]);
    for (const page of pages)
      for (const [name] of read(page).matchAll(/\b(HUB|DATABASE)_[A-Z_]+\b/g))
        expect([page, name, known.has(name)]).toEqual([page, name, true]);
  });
});
