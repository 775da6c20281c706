/**
 * Code blocks of the README and of docs/, run as they stand. Imports go to the sources, and to a network of the test's
 * own.
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { run } from "../../src/node/cli/run.ts";
import { parseConfig } from "../../src/config/config.ts";
import { imageInfo } from "../../src/picture/image-info.ts";
import { withAbsoluteLinks } from "../../scripts/npm-readme.mjs";
import { pngOf } from "../examples/run-example.ts";
import { fixture } from "../support/files.ts";
import { type Rules, RULE_SETS } from "../../src/core/rules.ts";

const blocksOf = (page: string): string[] =>
  [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block]) => block);

test("the first block goes from a photo to boxes and a picture in six lines", async () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const [block] = blocksOf(readme);
  const own = block.split("\n").filter((line) => line !== "" && !line.startsWith("import "));
  expect(own.length).toBeLessThanOrEqual(6);
  const folder = mkdtempSync(join(tmpdir(), "boxwright-readme-"));
  const file = new URL("./.photo-to-boxes.tmp.ts", import.meta.url);
  const printed: unknown[][] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void printed.push(args));
  try {
    writeFileSync(join(folder, "street.png"), pngOf([[51, 102, 153, 204, 230, 255]]));
    const code = block
      .replace('"boxwright"', '"../../src/entries/index.ts"')
      .replace("boxwright/node", "../../src/entries/node.ts")
      .replace('"yolo11n.onnx"', JSON.stringify(fixture("detect/network.onnx")))
      .replace(/"(street|boxes)\.png"/g, (_, name: string) => JSON.stringify(join(folder, `${name}.png`)));
    writeFileSync(file, `// @ts-nocheck\n${code}`);
    await import(file.href);
    expect(imageInfo(readFileSync(join(folder, "boxes.png")))).toMatchObject({
      mime: "image/png",
      width: 32,
    });
  } finally {
    log.mockRestore();
    rmSync(file, { force: true });
    rmSync(folder, { recursive: true });
  }
  expect(printed).toHaveLength(1);
  const [label, ...numbers] = printed[0];
  expect(label).toBe("dog");
  expect(numbers.map((n) => (n as number).toFixed(4))).toEqual([
    "0.9020",
    "0.2000",
    "0.4000",
    "0.6000",
    "0.8000",
  ]);
});

describe("the README on npm", () => {
  const root = new URL("../../", import.meta.url);
  const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
  const readme = read("README.md");

  test("shows a result on its first screen, and has at most 1,200 words", () => {
    const first = readme.split("\n").slice(0, 12).join("\n");
    expect(first).toMatch(/!\[[^\]]+\]\(docs\/result\.jpg\)/);
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1200);
  });

  const pages = ["docs", "examples"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `${folder}/${file.replaceAll("\\", "/")}`),
  );
  const linksOf = (text: string): string[] => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);

  test.each(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", ...pages])(
    "every link of %s leads to a file",
    (page) => {
      const links = linksOf(read(page));
      if (page === "README.md") expect(links.length).toBeGreaterThan(20);
      const missing = links.filter((link) => {
        const [path, anchor] = link.split("#");
        if (/^https?:/.test(link)) return false;
        const file = new URL(path === "" ? page : path, new URL(page, root));
        if (!existsSync(path === "" ? new URL(page, root) : file)) return true;
        if (anchor === undefined) return false;
        const headings = readFileSync(path === "" ? new URL(page, root) : file, "utf8").matchAll(
          /^#+ (.*)$/gm,
        );
        return ![...headings].some(([, text]) => anchorOf(text) === anchor);
      });
      expect(missing).toEqual([]);
    },
  );

  test("names every import of the package", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const table = readme.split("\n").filter((line) => line.startsWith("| `boxwright/"));
    const named = table.flatMap((line) =>
      [...line.split("|")[1].matchAll(/`boxwright\/(\w+)`/g)].map(([, name]) => name),
    );
    const folders = Object.keys(exports).filter((key) => /^\.\/\w+$/.test(key));
    expect(named.sort()).toEqual(folders.map((key) => key.slice(2)).sort());
  });

  test("is published with absolute links, at the tag", () => {
    const release = read(".github/workflows/release.yml");
    const rewrite = release.indexOf('node scripts/npm-readme.mjs "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"');
    expect(rewrite).toBeGreaterThan(0);
    expect(rewrite).toBeLessThan(release.indexOf("npm publish"));
    const text = withAbsoluteLinks(readme, "https://example.org/a/b", "v1.2.3");
    const links = linksOf(text);
    expect(links).toHaveLength(linksOf(readme).length);
    expect(text).toContain("](https://example.org/a/b/raw/v1.2.3/docs/result.jpg)");
    expect(text).toContain("[docs/detect.md](https://example.org/a/b/blob/v1.2.3/docs/detect.md)");
    expect(links.filter((link) => !link.startsWith("https://"))).toEqual([]);
    expect(text).not.toMatch(/<(img|a)\b|^\[[^\]]+\]: /m);
    const kept = "[a](#b) [c](https://d) [e](mailto:f@g)";
    expect(withAbsoluteLinks(kept, "https://example.org/a/b", "v1")).toBe(kept);
  });

  test.each(["README.md", "CHANGELOG.md", "package.json", ...pages])(
    "%s claims to be alone nowhere",
    (page) => {
      // Others decode YOLO in JavaScript too: docs/comparison.md.
      const text = read(page).replace(/\s+/g, " ");
      const claims = /\b(nobody|no one|no other \w+|the (only|first) (package|library|decoder))\b[^.]*/gi;
      const found = [...text.matchAll(claims)].map(([claim]) => claim);
      expect(found.filter((claim) => /yolo|javascript|decodes?\b|npm/i.test(claim))).toEqual([]);
    },
  );
});

/** Returns the anchor that GitHub and npm give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

test("the usage block prints what it says", async () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const block = blocksOf(readme).find((b) => b.includes("// cat")) ?? "";
  const promised = /^\/\/ (cat .*)$/m.exec(block)?.[1] ?? "";
  expect(promised).toContain("cat 0.72");
  const file = new URL("./.readme.tmp.ts", import.meta.url);
  writeFileSync(file, `// @ts-nocheck\n${block.replace('"boxwright"', '"../../src/entries/index.ts"')}`);
  const printed: unknown[][] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void printed.push(args));
  try {
    await import(file.href);
  } finally {
    log.mockRestore();
    rmSync(file);
  }
  expect(printed).toHaveLength(1);
  const [label, confidence, box] = printed[0] as [string, string, Record<string, number>];
  expect(`${label} ${confidence}`).toBe("cat 0.72");
  const numbers = [...promised.matchAll(/(x_min|y_min|x_max|y_max): ([\d.]+)/g)];
  expect(numbers).toHaveLength(4);
  for (const [, name, value] of numbers) expect(box[name]).toBeCloseTo(Number(value), 3);
});

test("the block from a photo to boxes finds a pixel where it is in the photo", async () => {
  const readme = readFileSync(new URL("../../docs/photo.md", import.meta.url), "utf8");
  const block =
    [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, b]) => b).find((b) => b.includes("letterbox")) ??
    "";
  const file = new URL("./.photo.tmp.ts", import.meta.url);
  const network = new URL("./.photo-network.tmp.ts", import.meta.url);
  // a network that finds the brightest red pixel of its input, as a box of 8 x 8 pixels around it
  writeFileSync(
    network,
    `// @ts-nocheck
export class Tensor { constructor(type, data, dims) { Object.assign(this, { type, data, dims }); } }
export const InferenceSession = { create: async () => ({ run: async ({ images }) => {
  const at = images.data.subarray(0, 640 * 640).indexOf(1);
  const data = new Float32Array(84 * 8400);
  [(at % 640) + 0.5, Math.floor(at / 640) + 0.5, 8, 8, 0.9].forEach((v, k) => (data[k * 8400] = v));
  return { output0: { data, dims: [1, 84, 8400] } };
} }) };`,
  );
  writeFileSync(
    file,
    `// @ts-nocheck\n${block.replace('"boxwright"', '"../../src/entries/index.ts"').replace('"onnxruntime-node"', '"./.photo-network.tmp.ts"')}`,
  );
  try {
    const { detect } = (await import(file.href)) as {
      detect: (photo: object) => Promise<{ x_min: number; x_max: number; y_min: number; y_max: number }[]>;
    };
    for (const [width, height, x, y] of [
      [320, 200, 100, 60],
      [200, 320, 150, 300],
      [640, 640, 20, 30],
      [479, 640, 100, 200],
    ]) {
      const data = new Uint8Array(width * height * 4);
      data[(y * width + x) * 4] = 255;
      const [box, ...others] = await detect({ data, width, height });
      expect(others).toEqual([]);
      expect(Math.abs((box.x_min + box.x_max) / 2 - x - 0.5)).toBeLessThan(0.5);
      expect(Math.abs((box.y_min + box.y_max) / 2 - y - 0.5)).toBeLessThan(0.5);
    }
  } finally {
    rmSync(file);
    rmSync(network);
  }
});

test("the block of plans decodes by what the command before it writes", async () => {
  const page = readFileSync(new URL("../../docs/deployment.md", import.meta.url), "utf8");
  const block =
    [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, b]) => b).find((b) => b.includes("loadPlan")) ?? "";
  const command = /^npx boxwright (compile .*)$/m.exec(page)?.[1] ?? "";
  const folder = mkdtempSync(join(tmpdir(), "boxwright-readme-"));
  const file = new URL("./.plan.tmp.ts", import.meta.url);
  const data = new Float32Array(84 * 8400);
  [320, 160, 64, 32, 0.75].forEach((v, k) => (data[k * 8400 + 7] = v));
  (globalThis as { data?: Float32Array }).data = data;
  const printed: unknown[][] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...args: unknown[]) => void printed.push(args));
  try {
    const config = {
      family: "yolov8",
      inputSize: [640, 640],
      labels: Array.from({ length: 80 }, (_, i) => `thing ${i}`),
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    const words = command
      .replace("config.json", join(folder, "config.json"))
      .replace("plan.bin", join(folder, "plan.bin"));
    const said: string[] = [];
    const code = await run(words.split(" "), {
      out: (s) => void said.push(String(s)),
      err: (s) => void said.push(String(s)),
    });
    expect(code, said.join("")).toBe(0);
    writeFileSync(
      file,
      `// @ts-nocheck\n${block.replace('"boxwright/plan"', '"../../src/entries/plan.ts"').replace('"plan.bin"', JSON.stringify(join(folder, "plan.bin")))}`,
    );
    await import(file.href);
  } finally {
    log.mockRestore();
    rmSync(file, { force: true });
    rmSync(folder, { recursive: true });
  }
  expect(printed).toEqual([["thing 0", 0.75]]);
});

test("the table of rules says what each set is", () => {
  const readme = readFileSync(new URL("../../docs/rules.md", import.meta.url), "utf8");
  const section = readme.slice(readme.indexOf("\n## Rules\n")).split(/\n## /)[1];
  const [head, , ...lines] = section
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const sets = head.slice(1).map((cell) => cell.replaceAll("`", ""));
  expect(sets).toEqual(Object.keys(RULE_SETS));
  const field = (line: string[]): string | undefined => /^`(\w+)`/.exec(line[0])?.[1];
  const table = Object.fromEntries(lines.map((line) => [field(line) ?? line[0], line.slice(1)]));
  // as the table writes a value
  const written = (name: string, value: unknown): string =>
    name === "clamp" && value === "before"
      ? "before, empty boxes dropped"
      : name === "clamp" && value === "centre"
        ? "centre and size"
        : name === "maxCandidates" && value === 0
          ? "-"
          : typeof value === "boolean"
            ? value
              ? "yes"
              : "no"
            : String(value);
  const fields = Object.keys(RULE_SETS.ultralytics) as (keyof Rules)[];
  expect(table).toEqual({
    // held by what parseConfig makes of the two
    "default for": sets.map((set) =>
      set === parseConfig({ family: "yolov8" }).ruleSet
        ? "typed options"
        : set === parseConfig({ NN_config: {} }).ruleSet
          ? "config files"
          : "",
    ),
    ...Object.fromEntries(
      fields.map((f) => [f, Object.values(RULE_SETS).map((rules: Rules) => written(f, rules[f]))]),
    ),
  });
});
