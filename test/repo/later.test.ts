/** What the built package reads in Node, and when. Runs on dist/, which `npm test` builds first. */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const url = (file: string): string => pathToFileURL(join(root, "dist", file)).href;
type Exports = Readonly<Record<string, unknown>>;
const load = (file: string): Promise<Exports> => import(/* @vite-ignore */ url(file)) as Promise<Exports>;

/** Returns the files of dist/ that a fresh process has read after each of the steps. */
function filesRead(steps: readonly string[], flags: readonly string[] = []): string[][] {
  const program = `
    import { Session } from "node:inspector";
    const files = new Set();
    const session = new Session();
    session.connect();
    session.on("Debugger.scriptParsed", ({ params: { url } }) => {
      if (url.includes("/dist/")) files.add(url.replace(/.*\\/dist\\//, "").replace(/-[\\w-]{8}\\./, "."));
    });
    session.post("Debugger.enable");
    const answer = [];
    let b, decoder;
    ${steps.map((step) => `${step}; answer.push([...files].sort());`).join("\n")}
    console.log(JSON.stringify(answer));`;
  const stdout = execFileSync(process.execPath, [...flags, "--input-type=module", "-e", program], {
    cwd: root,
    encoding: "utf8",
  });
  return JSON.parse(stdout) as string[][];
}

const POSE =
  '{ family: "yolov8", task: "pose", classes: 1, inputSize: [64, 64], keypoints: [17, 3] }, ' +
  '{ outputs: [{ name: "a", dims: [1, 56, 84] }]';
const BOXES =
  '{ family: "yolov8", classes: 1, inputSize: [64, 64] }, { outputs: [{ name: "a", dims: [1, 5, 84] }] }';
const later = (files: readonly string[]): string[] =>
  files.filter((f) => /^(plan|task|beside|pose|index\.mjs|index\.cjs|kernels\.[mc]js)/.test(f));

describe("Node reads what it needs", () => {
  test.each([
    ["import", 'b = await import("boxwright")'],
    ["require", 'b = (await import("node:module")).createRequire(import.meta.url)("boxwright")'],
    ["import of core", 'b = await import("boxwright/core")'],
  ])("%s: no reader of files, finished rows and engine ts before a config asks for it", (_, loads) => {
    const [boxes, file] = filesRead([
      `${loads}; decoder = b.createDecoderSync(${BOXES}); decoder.decode()`,
      "try { b.parseConfig({ nn_config: {} }) } catch {}",
    ]);
    expect(boxes.filter((f) => /^(config-files|finished-rows|engine-ts)/.test(f))).toEqual([]);
    expect(file.some((f) => f.startsWith("config-files"))).toBe(true);
  });

  test.each([
    ["import", 'b = await import("boxwright")'],
    ["require", 'b = (await import("node:module")).createRequire(import.meta.url)("boxwright")'],
    ["import of core", 'b = await import("boxwright/core")'],
  ])("%s: no task before a config asks for it, then that task alone", (_, loads) => {
    const tasks = loads.includes("core") ? ", tasks: [b.pose]" : "";
    const [imported, boxes, pose] = filesRead([
      loads,
      `decoder = b.createDecoderSync(${BOXES}); decoder.decode()`,
      `decoder = b.createDecoderSync(${POSE}${tasks} }); decoder.decode()`,
    ]);
    expect(imported.length).toBeGreaterThan(2);
    expect(later(imported)).toEqual([]);
    expect(later(boxes)).toEqual([]);
    // Bundlers may put what only one task has into its own file.
    const read = later(pose).map((f) => f.replace(/\.[mc]js$/, ""));
    expect(read.filter((f) => f !== "task-pose")).toEqual(["plan-pose", "pose", "tasks"]);
  });

  test("another function is read when it is called", () => {
    const [imported, called] = filesRead([
      'b = await import("boxwright")',
      'if (b.nms.name !== "nms") throw b.nms; b.nms([0, 0, 1, 1], [1])',
    ]);
    expect(later(imported)).toEqual([]);
    expect(called).toContain("index.mjs");
  });

  test("a function or task searches for its file once", () => {
    const program = `
      import module, { syncBuiltinESMExports } from "node:module";
      const { createRequire } = module;
      let searches = 0;
      module.createRequire = (...given) => (searches++, createRequire(...given));
      syncBuiltinESMExports();
      const { nms } = await import("boxwright");
      const { pose } = await import("boxwright/core");
      const counts = [1, 2, 3].map(() => (nms([0, 0, 1, 1], [1]), pose.read, pose.rules, searches));
      console.log(JSON.stringify(counts));`;
    const stdout = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
    });
    const [first, ...others] = JSON.parse(stdout) as number[];
    expect(first).toBeGreaterThan(0);
    expect(others).toEqual([first, first]);
  });

  test("Node that requires no modules reads all at once", () => {
    const [imported] = filesRead(['b = await import("boxwright")'], ["--no-experimental-require-module"]);
    expect(imported).toContain("index.mjs");
    expect(imported).not.toContain("index.node.mjs");
  });
});

test.each(["mjs", "cjs"])("index.node.%s and core.node exports what index and core do", async (kind) => {
  for (const name of ["index", "core"]) {
    const all = await load(`${name}.${kind}`);
    const node = await load(`${name}.node.${kind}`);
    const names = (x: Exports): string[] => Object.keys(x).sort();
    expect(names(node)).toEqual(names(all));
    for (const [key, value] of Object.entries(all)) {
      expect(typeof node[key], key).toBe(typeof value);
      // Classes and constants are the same objects, so that `instanceof` holds.
      if (/^[A-Z]/.test(key)) expect(node[key], key).toBe(value);
    }
  }
});

test("a task of Node has the members of the task", () => {
  const program = `
    import * as all from ${JSON.stringify(url("core.mjs"))};
    import * as node from ${JSON.stringify(url("core.node.mjs"))};
    for (const name of ["masks", "oriented", "peaks", "pose", "prepare", "suppression", "text"])
      for (const member of Object.keys(all[name])) console.log(name, member, node[name][member] === all[name][member]);`;
  const lines = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(lines.trim().split("\n").length).toBeGreaterThan(20);
  expect(lines).not.toContain("false");
});

test("bundlers for Node take the files that state their imports", () => {
  const { exports, imports } = createRequire(import.meta.url)(join(root, "package.json")) as {
    exports: Record<string, { import: Record<string, unknown> }>;
    imports: Record<string, { node: Record<string, string> }>;
  };
  for (const entry of [".", "./core"]) {
    const conditions = Object.keys(exports[entry].import);
    expect(conditions.indexOf("module")).toBeLessThan(conditions.indexOf("node"));
  }
  const conditions = Object.keys(imports["#kernels"].node);
  expect(conditions.indexOf("module")).toBeLessThan(conditions.indexOf("module-sync"));
});
