/**
 * Wrong programs, compiled by each supported TypeScript: the message names the misspelt option, the value that is meant
 * or the type that is expected, in a line of its own.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { moduleTypes } from "../../src/planfile/module.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "boxwright-compile-"));
afterAll(() => rmSync(folder, { recursive: true }));

const DECODER = 'createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] })';

/** Programs of one line each, and what the compiler has to say of them. */
const WRONG: readonly (readonly [program: string, message: RegExp])[] = [
  [
    'createDecoderSync({ family: "yolov8", clases: 80, inputSize: [640, 640] });',
    /'clases' does not exist in type 'TypedOptions'\. Did you mean to write 'classes'\?/,
  ],
  [
    'void createDecoder({ family: "yolov8", classes: 80, inputsize: [640, 640] });',
    /'inputsize' does not exist in type 'TypedOptions'\. Did you mean to write 'inputSize'\?/,
  ],
  [
    'createDecoderSync({ family: "yolov88", classes: 80 });',
    /Type '"yolov88"' is not assignable to type 'Family'\. Did you mean '"yolov8"'\?/,
  ],
  [
    'createDecoderSync({ family: "yolov8", classes: "80" });',
    /Type 'string' is not assignable to type 'number'/,
  ],
  [
    'createDecoderSync({ family: "yolov8", classes: 80, inputSize: 640 });',
    /Type 'number' is not assignable to type 'readonly \[number, number\]'/,
  ],
  [
    'createDecoderSync({ family: "yolov8", classes: 80, reading: "rows" });',
    /Type '"rows"' is not assignable to type 'ReadingName \| undefined'/,
  ],
  [
    'createDecoderSync({ family: "yolov8", classes: 80 }, { iouTreshold: 0.5 });',
    /'iouTreshold' does not exist in type 'DecoderOptions'\. Did you mean to write 'iouThreshold'\?/,
  ],
  [
    'createDecoderSync({ NN_config: {} }, { engine: "wasm" });',
    /Type '"wasm"' is not assignable to type '.*EngineName.*'/,
  ],
  [
    `${DECODER}.decode([{ data: new Float32Array(4), dims: [1, 4], order: "NCWH" }]);`,
    /Type '"NCWH"' is not assignable to type 'StorageOrder \| undefined'/,
  ],
  [
    `${DECODER}.decode([{ data: new Float32Array(4), dims: [1, 4], type: "float31" }]);`,
    /Type '"float31"' is not assignable to type '.*TypeName.*'\. Did you mean '"float"'\?/,
  ],
  [`${DECODER}.update({ confidence: 0.5 });`, /'confidence' does not exist in type 'Update'/],
  ["decode([{ data: new Float32Array(4) }]);", /Property 'dims' is missing in type/],
  ["decode([]).confidences;", /Property 'confidences' does not exist on type 'Detections'/],
  [`${DECODER}.decode().confidences;`, /Property 'confidences' does not exist on type 'Detections'/],
];

const RIGHT = [
  `${DECODER};`,
  "createDecoderSync(JSON.parse('{}'));",
  'createDecoderSync(\'{ "family": "yolov8", "classes": 80 }\');',
  'createDecoderSync({ NN_config: { output_format: "raw" } }, { family: "yolov8", keep: ["person", 7] });',
  'createDecoderSync({ family: "yolov5", classes: 80, anchors: [[10, 13], [16, 30], [33, 23]], strides: [8] });',
  "declare const typed: TypedOptions; createDecoderSync(typed);",
  "declare const family: Family; createDecoderSync({ family, classes: 80 });",
  "declare const file: unknown; createDecoderSync(file);",
  'for (const { label } of decode([], { width: 4, height: 3, resize: "stretch" })) label satisfies string;',
  `${DECODER}.decode({ output0: { data: new Float32Array(4), dims: [1, 4], type: "float32", order: "rows" } });`,
];

const COMPILERS: readonly (readonly [name: string, version: string])[] = [
  ["typescript-5.9", "5.9"],
  ["typescript", "6."],
  ["typescript-7", "7."],
];

const IMPORT =
  'import { createDecoder, createDecoderSync, type Family, type TypedOptions } from "boxwright";' +
  'import { decode } from "./detector.mjs";';
writeFileSync(join(folder, "detector.d.mts"), moduleTypes());

/** Compiles the programs by one compiler. Returns what it says of each, by the name of its file. */
function compile(compiler: string, programs: readonly string[]): Map<string, string> {
  const files = programs.map((program, i) => {
    const name = `p${i}.ts`;
    writeFileSync(join(folder, name), `${IMPORT}\nvoid createDecoder; void decode;\n${program}\n`);
    return name;
  });
  const config = {
    compilerOptions: {
      target: "es2022",
      lib: ["es2022", "dom"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: [],
      paths: { boxwright: [join(root, "src/entries/index.ts")] },
    },
    files: [...files, join(root, "src/globals.d.ts")],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  let text = "";
  try {
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    execFileSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
      cwd: folder,
      encoding: "utf8",
    });
  } catch (e) {
    text = (e as { stdout: string }).stdout;
  }
  const said = new Map<string, string>();
  let file = "";
  for (const line of text.split("\n")) {
    // a line that begins with blanks goes on with the message before
    file = /^(\S+?)\(\d+,\d+\): error/.exec(line)?.[1] ?? file;
    said.set(file, `${said.get(file) ?? ""}${line}\n`);
  }
  return said;
}

describe.each(COMPILERS)("%s", (compiler, version) => {
  test("is the version that it should be", () => {
    const manifest = readFileSync(join(root, "node_modules", compiler, "package.json"), "utf8");
    expect((JSON.parse(manifest) as { version: string }).version).toMatch(new RegExp(`^${version}`));
  });

  // one run for all programs: each costs seconds
  const said = compile(compiler, [...WRONG.map(([program]) => program), ...RIGHT]);

  test("explains what is wrong", () => {
    WRONG.forEach(([program, message], i) => {
      const text = said.get(`p${i}.ts`) ?? "";
      expect(text, program).toMatch(message);
      expect(text, program).not.toContain("'never'");
    });
  });

  test("accepts what is right", () => {
    RIGHT.forEach((program, i) => expect(said.get(`p${WRONG.length + i}.ts`), program).toBeUndefined());
  });
});
