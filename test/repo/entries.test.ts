/**
 * What the built package does when it is imported, and what its entries hold. Runs on dist/, which `npm test` builds
 * first.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { createContext, runInContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { crc32 } from "../../src/core/crc32.ts";
import { compilePlan } from "../../src/entries/node.ts";
import * as F from "../../src/planfile/format.ts";
import type * as Core from "../../src/entries/core.ts";
import type * as Plan from "../../src/entries/plan.ts";
import { loadCases, withPlans } from "../conformance/load.mjs";
import { type Boxwright, CHECKS_BESIDE, type Plans, runAll, runConformance } from "../conformance/run.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "dist");
const cases = loadCases();
const require = createRequire(import.meta.url);
const load = (file: string): Promise<Boxwright> =>
  import(/* @vite-ignore */ pathToFileURL(join(dist, file)).href);
const config = { family: "yolov8", classes: 2, inputSize: [64, 64] };

test("19 conformance cases with detections", () => {
  expect(cases).toHaveLength(19);
  for (const c of cases) expect(c.expected.length, c.name).toBeGreaterThan(0);
});

test("no file of the package has an effect when it is imported, so that bundlers drop what is not used", () => {
  const { sideEffects } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object & {
    sideEffects: unknown;
  };
  expect(sideEffects).toBe(false);
});

describe("the runner of the cases can fail", () => {
  const one = (change: (c: (typeof cases)[number]) => void): number => {
    const copy = JSON.parse(JSON.stringify(cases[0])) as (typeof cases)[number];
    change(copy);
    return runConformance(require(join(dist, "index.cjs")) as Boxwright, "ts", [copy]).failed;
  };
  test("on a score, a corner, a class, one too many, one too few, another order", () => {
    expect(one(() => undefined)).toBe(0);
    expect(one((c) => (c.expected[3].confidence += 1e-4))).toBe(1);
    expect(one((c) => (c.expected[0].y_max -= 1e-4))).toBe(1);
    expect(one((c) => (c.expected[0].class_id ^= 1))).toBe(1);
    expect(one((c) => (c.expected[0].x_min = NaN))).toBe(1);
    expect(one((c) => c.expected.push(c.expected[0]))).toBe(1);
    expect(one((c) => c.expected.pop())).toBe(1);
    expect(one((c) => c.expected.reverse())).toBe(c0ordered ? 1 : 0);
  });
  const c0ordered = cases[0].ordered;
});

describe("each entry answers as recorded", () => {
  test.each([
    ["index.mjs", "simd", 4],
    ["index.cjs", "simd", 4],
    ["index.node.mjs", "simd", 4],
    ["index.node.cjs", "simd", 4],
    ["page.mjs", "simd", 3],
    ["bare.mjs", "ts", 2],
    ["bare.cjs", "ts", 2],
  ])("%s", async (file, engine, runs) => {
    const result = runAll(await load(file), cases);
    expect(result.failures).toEqual([]);
    expect(result).toMatchObject({ engine, passed: runs * (cases.length + CHECKS_BESIDE) });
  });

  test("all builds of boxwright have the same names", async () => {
    const names = async (file: string): Promise<string[]> =>
      Object.keys(await load(file))
        .filter((n) => n !== "default" && n !== "module.exports")
        .sort();
    const all = await names("index.mjs");
    expect(all).toContain("createDecoder");
    const others = ["index.cjs", "page.mjs", "bare.mjs", "bare.cjs"];
    for (const file of others) expect(await names(file)).toEqual(all);
  });

  const planned = withPlans(cases, compilePlan);
  test.each([
    ["plan.mjs", "simd", 4],
    ["plan.cjs", "simd", 4],
  ])("%s, by plan files", async (file, engine, runs) => {
    const entry = (await load(file)) as unknown as Plans;
    const names = Object.keys(entry).filter((n) => n !== "default" && n !== "module.exports");
    expect(names.sort()).toEqual([
      "ConfigError",
      "Detections",
      "TensorError",
      "loadPlan",
      "loadPlanSync",
      "masks",
      "oriented",
      "peaks",
      "pose",
      "provideKernel",
      "toPixels",
    ]);
    const result = runAll(entry, planned);
    expect(result.failures).toEqual([]);
    expect(result).toMatchObject({ engine, passed: runs * (cases.length + CHECKS_BESIDE) });
  });

  test.each(["plan.mjs", "plan.cjs"])(
    "%s reads keypoints and masks, and throws its own errors",
    async (file) => {
      const plan = (await load(file)) as unknown as typeof Plan;
      const { ConfigError } = plan;
      const tasks = [plan.pose, plan.masks];
      const loadPlanSync = (bytes: Uint8Array | ArrayBuffer): Plan.PlanDecoder =>
        plan.loadPlanSync(bytes, { tasks });
      const pose = compilePlan(
        { ...config, family: "yolov8", classes: 1, task: "pose", keypoints: [1, 3] },
        {
          outputs: [{ name: "a", dims: [1, 2, 8], order: "rows" }],
        },
      );
      const data = [32, 32, 20, 20, 0.9, 16, 8, 0.5, ...Array<number>(8).fill(0)];
      const [d] = loadPlanSync(pose).decode([{ data, dims: [1, 2, 8], order: "rows" }]);
      expect(d.keypoints).toEqual([{ x: 0.25, y: 0.125, confidence: 0.5 }]);

      const segment = compilePlan(
        { family: "yolo26", inputSize: [16, 8], task: "segment", coordinates: "pixels" },
        {
          outputs: [
            { name: "a", dims: [1, 1, 7] },
            { name: "b", dims: [1, 1, 2, 4] },
          ],
        },
      );
      const found = loadPlanSync(segment).decode({
        a: { data: [0, 0, 12, 8, 0.9, 0, 1], dims: [1, 1, 7] },
        b: { data: [1, 1, 1, 1, -1, 1, 1, -1], dims: [1, 1, 2, 4] },
      });
      expect([...found.mask(0, { size: "prototype" }).data]).toEqual([1, 1, 1, 0, 1, 1]);

      // A section that contradicts the file: prototypes that are less wide.
      const words = new Uint32Array(segment.slice().buffer);
      const width = words[F.F_IMAGE_BYTES] / 4 + F.T_WIDTH;
      words[width] = 3;
      words[F.F_CHECK] = crc32(new Uint8Array(words.buffer).subarray(F.F_FILE_BYTES * 4));
      expect(() => loadPlanSync(words.buffer)).toThrow(ConfigError);
    },
  );

  test.each(["mjs", "cjs"])("core.%s shares its classes with the other entries", async (kind) => {
    const core = (await load(`core.${kind}`)) as unknown as typeof Core;
    const { ConfigError, Detections, suppressDetections } = await load(`index.${kind}`);
    const plan = (await load(`plan.${kind}`)) as unknown as typeof Plan;
    expect(core.ConfigError).toBe(ConfigError);
    expect(plan.ConfigError).toBe(ConfigError);
    expect(plan.Detections).toBe(Detections);
    const decoder = core.createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
    const boxes = { data: [0, 0, 0.5, 0.5], dims: [1, 1, 4] };
    const found = decoder.decode({ boxes, scores: { data: [0.75], dims: [1, 1, 1] } });
    expect(suppressDetections(found, { method: "soft-gaussian" })).toBeInstanceOf(core.Detections);
    expect(() => core.createDecoderSync({ ...config, family: "scrfd" } as never)).toThrow(ConfigError);
  });

  test("boxwright/node and boxwright/pool throw errors of boxwright", async () => {
    const { ConfigError, TensorError } = await load("index.mjs");
    const node = (await load("node.mjs")) as unknown as { compilePlan: (config: unknown) => unknown };
    expect(() => node.compilePlan({ family: "none" })).toThrow(ConfigError);
    expect(() => node.compilePlan(config)).toThrow(TensorError);
    const pool = (await load("pool.mjs")) as unknown as { createPool: (options: object) => Promise<unknown> };
    await expect(
      pool.createPool({ networks: [{ config: { family: "none" } }], threads: 1 }),
    ).rejects.toBeInstanceOf(ConfigError);
  });

  test.each(
    ["index", "core", "plan", "bare"].flatMap((name) => [`${name}.mjs`, `${name}.cjs`]).concat("pool.mjs"),
  )("%s: errors print their own name, minified or not", async (file) => {
    const exported = Object.entries(await load(file));
    const errors = exported.filter(
      ([, value]) => value instanceof Function && value.prototype instanceof Error,
    );
    expect(errors.length).toBeGreaterThan(0);
    for (const [name, ErrorOfKind] of errors) {
      const error = new (ErrorOfKind as unknown as new (...given: unknown[]) => Error)(
        [{ path: "", message: "it is wrong" }],
        "it is wrong",
      );
      expect(inspect(error).split(":")[0]).toBe(name);
    }
  });

  test.each([
    ['ConfigError: family: got "none"', `createDecoderSync({ family: "none" })`],
    [
      "TensorError: ",
      `createDecoderSync({ family: "yolov8", classes: 3, inputSize: [64, 64] }).decode({ a: { data: [1], dims: [1] } })`,
    ],
  ])(
    "an error that nobody catches is printed with its name, after a short line of code: %s",
    (start, call) => {
      const program = `import { createDecoderSync } from ${JSON.stringify(pathToFileURL(join(dist, "index.mjs")).href)};
      ${call};`;
      const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
        encoding: "utf8",
      });
      const lines = stderr.split("\n");
      const message = lines.findIndex((line) => line.startsWith(start));
      expect(message, stderr).toBeGreaterThan(2);
      for (const line of lines.slice(1, message)) expect(line.length).toBeLessThan(160);
    },
  );

  /** Calls that load a file later than the import. */
  const LATER =
    /import\("(?:#photos|\.\/[\w-]+\.mjs)"\)|=>\w+\("\.\/kernels\.[mc]js"\)|=>require\("\.\/[\w-]+\.cjs"\)/g;

  /** Returns the file behind `#kernels`: of pages for an entry of pages. */
  const kernelsOf = (file: string, conditions: Record<string, Record<string, string>>): string => {
    if (/^(index|core)\.mjs$/.test(file)) return conditions.default.import;
    return conditions.node[file.endsWith(".cjs") ? "require" : "module-sync"];
  };

  /** Returns the files that an import of `file` loads, and what else it imports. */
  function loadedBy(file: string): {
    readonly files: readonly string[];
    readonly outside: readonly string[];
  } {
    const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      imports: Record<string, Record<string, Record<string, string>>>;
    };
    const files = new Set<string>();
    const outside = new Set<string>();
    const visit = (name: string): void => {
      if (files.has(name)) return;
      files.add(name);
      // What decodes the file of a photo is loaded when one comes, a task when a config needs it, and the text of the
      // kernels when there is no file.
      const text = readFileSync(join(dist, name), "utf8").replaceAll(LATER, "");
      // Messages end in "from" too: what follows their quote is no specifier.
      for (const [, id] of text.matchAll(/(?:\bfrom ?|\bimport ?|\brequire\()"([\w#.:/@-]+)"/g)) {
        if (/^\.\/.*\.[cm]js$/.test(id)) visit(id.slice(2));
        else if (id in imports) visit(kernelsOf(file, imports[id]).replace("./dist/", ""));
        else outside.add(id);
      }
      expect(text).not.toMatch(/\bimport\(/);
    };
    visit(file);
    return { files: [...files], outside: [...outside] };
  }

  // Each file costs Node half a millisecond at the start.
  test.each([
    ["index.node", 6],
    ["core.node", 6],
    ["plan", 11],
  ])("an import of %s loads at most %i files, and no module of Node", (entry, most) => {
    for (const kind of ["mjs", "cjs"]) {
      const { files, outside } = loadedBy(`${entry}.${kind}`);
      expect(files).toContain(kind === "mjs" ? "kernels.later.mjs" : "kernels.node.cjs");
      expect(files.length, files.join(" ")).toBeLessThanOrEqual(most);
      // The CommonJS files learn where they lie by "url". Node has both when it starts.
      expect(outside.filter((id) => id !== "url" && id !== "node:module")).toEqual([]);
    }
  });

  test.each(["index.mjs", "core.mjs"])("%s imports nothing that a page lacks", (file) => {
    expect(loadedBy(file).outside).toEqual([]);
  });

  test.each(["page.mjs", "bare.mjs", "bare.cjs"])("%s stands by itself", (file) => {
    expect(loadedBy(file)).toEqual({ files: [file], outside: [] });
  });

  test("the kernels have a file for each condition", () => {
    expect(loadedBy("kernels.mjs").outside).toEqual([]);
    const ofPrefix = ["", "masks.", "prepare."].map((p) => [`./${p}scalar.wasm`, `./${p}simd.wasm`]);
    expect([...loadedBy("kernels.workerd.mjs").outside].sort()).toEqual(ofPrefix.flat().sort());
  });

  test("types of an entry come with it, and notices of bundled code", () => {
    const { exports, imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      exports: Record<string, unknown>;
      imports: Record<string, unknown>;
    };
    const files: string[] = [];
    const walk = (x: unknown): void => {
      if (typeof x === "string") files.push(x);
      else Object.values(x as object).forEach(walk);
    };
    walk(exports);
    walk(imports);
    expect(files.length).toBeGreaterThan(15);
    const there = readdirSync(dist).map((f) => `./dist/${f}`);
    expect([...new Set(files)].filter((f) => f !== "./package.json" && !there.includes(f))).toEqual([]);
    expect(readFileSync(join(dist, "NOTICE.txt"), "utf8")).toMatch(/Apache License[\s\S]*Version 2\.0/);
  });
});

describe("boxwright in Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-node-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const simd = readFileSync(join(dist, "simd.wasm"));

  /**
   * The engine that the entry gives when it stands beside such a simd.wasm, or none; lengths of what it read, and of
   * what it compiled; and true if it loaded the text of the kernels.
   */
  function decoderBeside(file: string, beside: Uint8Array | null): unknown {
    rmSync(join(folder, "dist/simd.wasm"), { force: true });
    if (beside !== null) writeFileSync(join(folder, "dist/simd.wasm"), beside);
    const program = `
      import fs from "node:fs";
      import { createRequire, syncBuiltinESMExports } from "node:module";
      const { readFileSync } = fs, { Module } = WebAssembly, read = [], compiled = [];
      fs.readFileSync = (...args) => {
        const bytes = readFileSync(...args);
        if (/simd.wasm$/.test(args[0])) read.push(bytes.length);
        return bytes;
      };
      syncBuiltinESMExports();
      WebAssembly.Module = class extends Module { constructor(bytes) { super(bytes); compiled.push(bytes.length); } };
      const b = await import(${JSON.stringify(pathToFileURL(join(folder, "dist", file)).href)});
      const { engine } = b.createDecoderSync(${JSON.stringify(config)}, { outputs: [{ name: "o", dims: [1, 6, 84] }] });
      const text = Object.keys(createRequire(import.meta.url).cache).some((f) => f.endsWith("kernels.cjs"));
      console.log(JSON.stringify({ engine, read: read.at(-1) ?? null, compiled, text }));`;
    return JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
    );
  }

  test.each(["index.mjs", "index.cjs"])("%s reads the file beside it, or takes the text", (file) => {
    mkdirSync(join(folder, "dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    for (const f of readdirSync(dist).filter((f) => /\.[cm]js$/.test(f)))
      cpSync(join(dist, f), join(folder, "dist", f));
    const result = { engine: "simd", compiled: [simd.length] };
    // The module file carries the text itself.
    const text = file.endsWith(".cjs");
    expect(decoderBeside(file, simd)).toEqual({ ...result, read: simd.length, text: false });
    expect(decoderBeside(file, null)).toEqual({ ...result, read: null, text });
    // another package's, in a folder of bundles
    expect(decoderBeside(file, simd.subarray(0, 1000))).toEqual({ ...result, read: 1000, text });
  });

  test.each([
    ["index.mjs", "esm"],
    ["index.mjs", "cjs"],
    ["index.cjs", "cjs"],
    ["index.cjs", "esm"],
  ] as const)("%s in a bundle for Node (%s) takes the text along", async (file, format) => {
    const outfile = join(folder, `bundle-${file}.${format === "esm" ? "mjs" : "cjs"}`);
    const contents = `import { createDecoderSync } from ${JSON.stringify(join(dist, file))};
      console.log(createDecoderSync(${JSON.stringify(config)}).engine);`;
    await build({
      stdin: { contents, resolveDir: root },
      outfile,
      format,
      platform: "node",
      bundle: true,
      logLevel: "error",
    });
    expect(execFileSync(process.execPath, [outfile], { encoding: "utf8" })).toBe("simd\n");
  });

  test.each(["index.mjs", "index.cjs"])("%s loads and decodes without a TextDecoder", (file) => {
    const program = `
      delete globalThis.TextDecoder;
      delete globalThis.TextEncoder;
      const b = await import(${JSON.stringify(pathToFileURL(join(dist, file)).href)});
      const data = new Float32Array(6 * 84);
      [32, 16, 20, 24, 0.1, 0.72].forEach((value, channel) => (data[channel * 84 + 10] = value));
      const decoder = b.createDecoderSync(${JSON.stringify(config)});
      const [found] = decoder.decode([{ data, dims: [1, 6, 84] }]).toArray();
      console.log(decoder.engine, found.class_id, found.x_min);`;
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    expect(out).toBe(`simd 1 ${22 / 64}\n`);
  });
});

describe("boxwright/ts and boxwright/wasm, which are one file", () => {
  // modules are kept by each copy of the file: a query makes a fresh one
  const fresh = (name: string): Promise<Boxwright> =>
    load("bare.mjs").then(
      () =>
        import(
          /* @vite-ignore */ `${pathToFileURL(join(dist, "bare.mjs")).href}?${name}`
        ) as Promise<Boxwright>,
    );
  const bytes = (kind: string): Uint8Array<ArrayBuffer> =>
    new Uint8Array(readFileSync(require.resolve(`boxwright/${kind}.wasm`)));

  test("runs in TypeScript until a kernel is handed over, then with it", async () => {
    const b = await fresh("a");
    expect(b.createDecoderSync(config).engine).toBe("ts");
    expect(() => b.nms([0, 0, 1, 1], [1], { engine: "simd" })).toThrow(
      /got no binary, expected one: .* Call provideKernel\("simd", ...\)/,
    );
    // before any shape is known, so at once and not at the first frame
    expect(() => b.createDecoderSync(config, { engine: "simd" })).toThrow(/got no binary/);
    await expect(b.createDecoder(config, { engine: "scalar" })).rejects.toThrow(/got no binary/);
    b.provideKernel("scalar", bytes("scalar"));
    expect(b.createDecoderSync(config).engine).toBe("scalar");
    expect((await b.createDecoder(config)).engine).toBe("scalar");
    b.provideKernel("simd", new WebAssembly.Module(bytes("simd")));
    // The exports of a module tell which kernel it is.
    const image = { data: new Uint8Array(64), width: 4, height: 4 };
    const simd = { engine: "simd" } as const;
    expect(() => b.prepareImage(image, { size: [4, 4] }, simd)).toThrow(
      "with boxwright/prepare.simd.wasm first",
    );
    b.provideKernel("simd", bytes("prepare.simd"));
    expect(b.prepareImage(image, { size: [4, 4] }, simd).tensor.dims).toEqual([1, 3, 4, 4]);
    const result = runAll(b, cases);
    expect(result.failures).toEqual([]);
    expect(result).toMatchObject({ engine: "simd", passed: 4 * (cases.length + CHECKS_BESIDE) });
  });

  test("refuses what is no kernel", async () => {
    const b = await fresh("b");
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    expect(() => b.provideKernel("simd", empty)).toThrow(
      /got a module with the exports \(none\), expected abiVersion, scan/,
    );
    expect(() => b.provideKernel("avx" as "simd", empty)).toThrow(
      /kind: got "avx", expected "simd" or "scalar"/,
    );
    expect(() => b.provideKernel("simd", WebAssembly.compile(bytes("simd")))).toThrow(
      "kernel: got a promise, not awaited, expected a WebAssembly.Module, or the bytes of boxwright/simd.wasm",
    );
    // a server that lacks the file may answer with a page
    const page = new TextEncoder().encode("<!doctype html>");
    for (const given of [page, page.buffer])
      expect(() => b.provideKernel("simd", given)).toThrow(
        /^kernel: got 15 bytes that do not compile \(.*\), expected the file boxwright\/simd.wasm$/,
      );
    expect(() => b.provideKernel("simd", page)).toThrow(TypeError);
    for (const none of [{}, null, "simd.wasm"])
      expect(() => b.provideKernel("simd", none as object)).toThrow(`kernel: got ${String(none)}, expected`);
    expect(b.createDecoderSync(config).engine).toBe("ts");
  });
});

describe("an import does nothing", () => {
  /** Everything that reads files, the network, the environment or the machine, in any runtime. */
  const OUTSIDE = [
    ...[
      "process",
      "require",
      "module",
      "Deno",
      "Bun",
      "Buffer",
      "fetch",
      "XMLHttpRequest",
      "WebSocket",
      "EventSource",
      "navigator",
    ],
    ...[
      "location",
      "document",
      "window",
      "self",
      "localStorage",
      "indexedDB",
      "caches",
      "importScripts",
      "setTimeout",
      "queueMicrotask",
    ],
    ...["crypto", "performance", "console", "TextDecoder", "TextEncoder", "Worker", "SharedArrayBuffer"],
  ];

  /** Evaluates a CommonJS file in a realm of its own, in which each of these names is a trap. */
  function realm(options: { readonly wasm?: boolean } = {}): {
    readonly read: string[];
    readonly evaluate: (code: string) => unknown;
    readonly global: Record<string, unknown>;
  } {
    const context = createContext({}, { codeGeneration: { strings: false, wasm: options.wasm ?? true } });
    const read: string[] = [];
    const global = runInContext("globalThis", context) as Record<string, unknown>;
    for (const name of OUTSIDE)
      Object.defineProperty(global, name, {
        configurable: true,
        get() {
          read.push(name);
          return name === "TextDecoder" ? TextDecoder : undefined;
        },
      });
    return { read, global, evaluate: (code) => runInContext(code, context) as unknown };
  }
  /** Returns code that evaluates a CommonJS file and the chunks that it requires, and nothing else. */
  function wrap(file: string): string {
    const files = readdirSync(dist).filter((f) => f.endsWith(".cjs"));
    const functions = files.map(
      (f) => `"./${f}": (exports, require) => { ${readFileSync(join(dist, f), "utf8")}\n}`,
    );
    return `(() => {
      const files = { ${functions.join(",\n")} };
      const loaded = {};
      const require = (id) => {
        const file = id.startsWith("#") ? "./" + id.slice(1) + ".cjs" : id;
        if (!loaded[file]) files[file]((loaded[file] = {}), require);
        return loaded[file];
      };
      return require("./${file}");
    })()`;
  }
  test("the traps spring", () => {
    const { read, evaluate } = realm();
    evaluate("typeof process; globalThis.fetch;");
    expect(read).toEqual(["process", "fetch"]);
  });

  test.each(["index.cjs", "bare.cjs"])("%s reads nothing of the world, and decodes without it", (file) => {
    const { read, evaluate } = realm();
    const b = evaluate(wrap(file)) as Boxwright;
    expect(read).toEqual([]);
    const result = runAll(b, cases);
    expect(result.failed).toBe(result.failures.length);
    // what comes from another realm is no instance of this one's classes, so refusals count as they are
    expect(result.failures).toEqual([]);
    // A note that nobody receives goes to the console of a page or program in development.
    const allowed = ["process", "location", "navigator", "console"];
    expect(read.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test.each(["core.cjs", "plan.cjs"])("%s reads nothing of the world when it is imported", (file) => {
    const { read, evaluate } = realm();
    expect(Object.keys(evaluate(wrap(file)) as object)).not.toEqual([]);
    expect(read).toEqual([]);
  });

  test.each(["index.cjs", "bare.cjs"])("%s changes no built-in and compiles nothing", (file) => {
    const { evaluate, global } = realm();
    evaluate(`
      globalThis.compiled = [];
      for (const name of ["Module", "Instance", "Memory", "compile", "instantiate", "validate"])
        WebAssembly[name] = new Proxy(WebAssembly[name], {
          apply(f, self, args) { compiled.push(name); return Reflect.apply(f, self, args); },
          construct(f, args, target) { compiled.push(name); return Reflect.construct(f, args, target); },
        });
      globalThis.shape = () => {
        const seen = new Set(), lines = [];
        const walk = (o, path) => {
          if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o)) return;
          seen.add(o);
          for (const key of Reflect.ownKeys(o)) {
            const d = Reflect.getOwnPropertyDescriptor(o, key);
            lines.push(path + "." + String(key) + " " + typeof d.value + [d.writable, d.enumerable, d.configurable]);
            walk(d.value, path + "." + String(key));
          }
          walk(Reflect.getPrototypeOf(o), path + ".__proto__");
        };
        walk(globalThis, "");
        return lines.join("\\n");
      };
      globalThis.before = ""; globalThis.before = shape();
    `);
    const b = evaluate(wrap(file)) as Boxwright;
    expect(evaluate("shape() === before")).toBe(true);
    expect(String(global.before).split("\n").length).toBeGreaterThan(500);
    expect(evaluate("compiled.join()")).toBe("");
    // the probe sees what is compiled
    expect(runConformance(b, "auto", cases.slice(0, 2)).failures).toEqual([]);
    expect(evaluate('compiled.includes("Instance")')).toBe(file === "index.cjs");
  });

  test("where compiling WebAssembly is forbidden, TypeScript takes over", async () => {
    const { evaluate } = realm({ wasm: false });
    const b = evaluate(wrap("index.cjs")) as Boxwright;
    const result = runAll(b, cases);
    expect(result.failures).toEqual([]);
    expect(result).toMatchObject({ engine: "ts", passed: 2 * (cases.length + CHECKS_BESIDE) });
    expect((await b.createDecoder(config)).engine).toBe("ts");
  });
});

describe("more than one copy", () => {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-copies-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Detections of all cases, each decoded by decoders that are alive at the same time. */
  function interleaved(copies: readonly Boxwright[]): unknown[][] {
    const results: unknown[][] = copies.map(() => []);
    for (const c of cases) {
      const decoders = copies.map((b) => b.createDecoderSync(c.config, c.options));
      const outputs = c.tensors.map((t) => ({ ...t, data: rawOf(t) }));
      const named = Object.fromEntries(outputs.map((t) => [t.name, t]));
      const found = decoders.map((d) => d.decode(named));
      // all have decoded before any is read
      found.forEach((f, i) => results[i].push(f.toArray()));
    }
    return results;
  }
  function rawOf(
    t: (typeof cases)[number]["tensors"][number],
  ): Float32Array | Uint16Array | Int8Array | Uint8Array {
    const { buffer, byteOffset, length } = Uint8Array.from(Buffer.from(t.base64, "base64"));
    if (t.type === "f32") return new Float32Array(buffer, byteOffset, length / 4);
    if (t.type === "f16") return new Uint16Array(buffer, byteOffset, length / 2);
    return t.type === "i8" ? new Int8Array(buffer) : new Uint8Array(buffer);
  }

  test("imported twice, and as ESM and CommonJS, in one process", async () => {
    const first = await load("index.mjs");
    const again = (await import(
      /* @vite-ignore */ `${pathToFileURL(join(dist, "index.mjs")).href}?again`
    )) as Boxwright;
    const cjs = require(join(dist, "index.cjs")) as Boxwright;
    expect(cjs.createDecoderSync).not.toBe(first.createDecoderSync);
    const [a, b, c] = interleaved([first, again, cjs]);
    expect(a.length).toBe(cases.length);
    expect(b).toEqual(a);
    expect(c).toEqual(a);
  });

  test("two versions side by side", async () => {
    const versions = ["0.0.1", "0.0.2"];
    const copies = [];
    for (const version of versions) {
      const at = join(folder, version, "node_modules", "boxwright");
      mkdirSync(at, { recursive: true });
      cpSync(dist, join(at, "dist"), { recursive: true });
      const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
      writeFileSync(join(at, "package.json"), JSON.stringify({ ...manifest, version }));
      const main = join(folder, version, "main.mjs");
      writeFileSync(
        main,
        'import manifest from "boxwright/package.json" with { type: "json" };\nexport * from "boxwright";\nexport const version = manifest.version;\n',
      );
      copies.push(
        (await import(/* @vite-ignore */ pathToFileURL(main).href)) as Boxwright & { version: string },
      );
    }
    expect(copies.map((c) => c.version)).toEqual(versions);
    expect(copies[0].createDecoderSync).not.toBe(copies[1].createDecoderSync);
    const [a, b] = interleaved(copies);
    expect(a.flat().length).toBeGreaterThan(100);
    expect(b).toEqual(a);
    // an error of one version is told from the other's by its class, and known by its name in both
    for (const [mine, other] of [copies, [...copies].reverse()])
      try {
        mine.createDecoderSync({ nn_config: { NN_family: "YOLO" } });
        expect.unreachable();
      } catch (e) {
        expect(e).toBeInstanceOf(mine.ConfigError);
        expect(e).not.toBeInstanceOf(other.ConfigError);
        expect((e as Error).name).toBe("ConfigError");
      }
  });

  test("in two worker threads at once", async () => {
    const program = `
      const { parentPort, workerData } = require("node:worker_threads");
      Promise.all([import(workerData.boxwright), import(workerData.runner), import(workerData.load)]).then(
        ([b, { runAll }, { loadCases }]) => parentPort.postMessage(runAll(b, loadCases())));`;
    const url = (...path: string[]): string => pathToFileURL(join(root, ...path)).href;
    const workerData = {
      boxwright: url("dist/index.mjs"),
      runner: url("test/conformance/run.mjs"),
      load: url("test/conformance/load.mjs"),
    };
    const results = await Promise.all(
      [1, 2].map(
        () =>
          new Promise((resolve, reject) => {
            const worker = new Worker(program, { eval: true, workerData });
            worker.once("message", resolve);
            worker.once("error", reject);
          }),
      ),
    );
    for (const r of results)
      expect(r).toEqual({
        engine: "simd",
        engines: ["simd", "scalar", "ts"],
        passed: 4 * (cases.length + CHECKS_BESIDE),
        failed: 0,
        failures: [],
      });
  });
});
