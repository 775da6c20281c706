/**
 * Every refusal that names options is followed, one option after the other, until the network decodes. The networks are
 * the examples of all families. The facts about each are the options of its example.
 */
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXAMPLES } from "../../scripts/family-examples.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { ConfigError, type OptionHint, TensorError } from "../../src/core/errors.ts";
import { type Detections, createDecoderSync, toPixels } from "../../src/entries/index.ts";
import { type TensorInput, specOf } from "../../src/core/tensor.ts";
import type { Outputs } from "../../src/decode/inputs.ts";
import { COMMAND_NAMES, optionsOf } from "../../src/node/cli/options.ts";
import { writeSafetensors } from "../../src/node/files/safetensors.ts";
import { boxwright } from "../support/cli.ts";

type Covered = keyof typeof EXAMPLES;
type Facts = Readonly<Record<string, unknown>>;

/** Options that some refusal of this run named. */
const named = new Set<string>();

const hintsOf = (error: unknown): readonly OptionHint[] => {
  if (error instanceof ConfigError || error instanceof TensorError) return error.options;
  throw error;
};

/** Decodes by a config that states too little, and gives what each refusal asks for. */
function follow(config: unknown, outputs: Outputs, facts: Facts): Detections {
  // A limit is a wish, which no refusal asks for.
  const options: Record<string, unknown> =
    facts["maxDetections"] === undefined ? {} : { maxDetections: facts["maxDetections"] };
  for (let step = 0; step < 12; step++) {
    try {
      return createDecoderSync(config, options as DecoderOptions).decode(outputs);
    } catch (error) {
      const hints = hintsOf(error);
      hints.forEach(({ option }) => named.add(option));
      const known = hints.filter(
        ({ option }) => facts[option] !== undefined && options[option] === undefined,
      );
      // Where the facts are silent, the error itself may know the value.
      const told = hints.find(({ option, value }) => value !== undefined && options[option] === undefined);
      if (known.length > 0) for (const { option } of known) options[option] = facts[option];
      else if (told) options[told.option] = told.value;
      else throw new Error(`a dead end after ${JSON.stringify(options)}: ${String(error)}`, { cause: error });
    }
  }
  throw new Error(`no end after ${JSON.stringify(options)}`);
}

/** Runs the example of a family by a decoder that `decode` makes of its options. Returns what it prints. */
async function run(family: Covered, decode: (facts: Facts, outputs: Outputs) => Detections): Promise<string> {
  const lines: string[] = [];
  const code = EXAMPLES[family].replace(/^import .*$/gm, "");
  const create = (facts: Facts): unknown => ({ decode: (outputs: Outputs) => decode(facts, outputs) });
  const log = (...words: unknown[]): void => void lines.push(words.join(" "));
  const AsyncFunction = (async () => {}).constructor as new (
    ...code: string[]
  ) => (...values: unknown[]) => Promise<void>;
  await new AsyncFunction("createDecoder", "toPixels", "console", code)(create, toPixels, { log });
  return lines.join("\n");
}

/** Returns what an example prints. Nothing asks for the names of classes, so a class may stand there by its id. */
const printed = (family: Covered): RegExp =>
  new RegExp(
    `^(\\w+) ${EXAMPLES[family].split("\n// ").pop()?.replace(/^\w+ /, "").replaceAll(".", "\\.")}$`,
  );

/** Spells a fact as the value of an option; `null` if the command line cannot state it in one word. */
function spelled(fact: unknown): string | null {
  if (typeof fact === "string" || typeof fact === "number" || fact === false) return String(fact);
  if (!Array.isArray(fact) || !fact.every((v) => typeof v === typeof fact[0])) return null;
  return typeof fact[0] === "object" ? null : fact.join(fact.length === 2 && fact[0] > 31 ? "x" : ",");
}

/**
 * Decodes a file by the command line, and gives what each refusal asks for in the words of the command. The family is
 * stated: without it the command says what describes a network.
 */
async function followByCommand(path: string, facts: Facts): Promise<void> {
  const words = [`--family=${facts["family"]}`];
  for (let step = 0; step < 12; step++) {
    const { code, err } = await boxwright("decode", path, ...words);
    if (code === 0) return;
    const asked = /In this command: (.*)/.exec(err)?.[1] ?? "";
    const hints = [...asked.matchAll(/--([\w-]+) ([^\s,]+)/g)];
    const known = hints.flatMap(([, name, value]) => {
      const { sets = "", example } = optionsOf("decode")[name];
      const fact = facts[sets] === undefined ? null : spelled(facts[sets]);
      const told = fact ?? (value === example ? null : value);
      return told === null ? [] : [[`--${name}=${told}`, fact !== null] as const];
    });
    // A fact goes before a value that the error knows.
    const [next] = [...known.filter(([, isFact]) => isFact), ...known];
    if (!next) throw new Error(`a dead end after ${words.join(" ")}: ${err}`);
    words.push(next[0]);
  }
  throw new Error(`no end after ${words.join(" ")}`);
}

const model = {
  format: "onnx",
  missing: [
    { path: "family", message: "got no metadata, expected the option family", option: "family" },
    { path: "inputSize", message: "got an open input, expected the option inputSize", option: "inputSize" },
  ],
  outputs: [],
  inputs: [],
  description: null,
  options: {},
  archive: null,
  input: null,
};

const plain = Object.keys(EXAMPLES) as Covered[];

describe("the advice of refusals leads to the answer", () => {
  test.each(plain)("%s, from nothing", async (family) => {
    const got = await run(family, (given, outputs) => follow({ classes: undefined }, outputs, given));
    expect(got).toMatch(printed(family));
  });

  test.each(plain)("%s, from a model file", async (family) => {
    const got = await run(family, (given, outputs) =>
      follow(model, outputs, { inputSize: [64, 64], ...given }),
    );
    expect(got).toMatch(printed(family));
  });

  test.each(plain)("%s, from an NN_config and an NN Archive without a family", async (family) => {
    for (const config of [
      { NN_config: { output_format: "detection" } },
      { model: { heads: [{ parser: "Other" }], outputs: undefined } },
    ])
      await run(family, (given, outputs) => follow(config, outputs, given));
  });
});

describe("the advice of the command line leads to a decode", () => {
  test.each(plain)("%s", async (family) => {
    const folder = mkdtempSync(join(tmpdir(), "advice-"));
    const cases: [string, Facts][] = [];
    await run(family, (facts, outputs) => {
      const tensors = Object.entries(outputs as Record<string, TensorInput>).map(([name, t]) => ({
        ...specOf(name, t, {}),
        ...(t.data instanceof BigInt64Array && { type: "i64" }),
        data: t.data,
      }));
      const path = `${folder}/${family}-${cases.length}.safetensors`;
      // Priors come from a file there.
      if (!("priors" in facts) && Object.values(facts).every((fact) => spelled(fact) !== null)) {
        writeFileSync(path, writeSafetensors(tensors as never));
        cases.push([path, facts]);
      }
      return createDecoderSync(facts as never).decode(outputs);
    });
    for (const [path, facts] of cases) await followByCommand(path, facts);
  });
});

test("every option that a refusal names is an option of the decoder, and of the command line where it can be", () => {
  expect(named.size).toBeGreaterThan(5);
  const onCommandLine = new Set(
    COMMAND_NAMES.flatMap((name) => Object.values(optionsOf(name)).map(({ sets }) => sets)),
  );
  const source = readdirSync(new URL("../../src", import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(new URL(`../../src/${path}`, import.meta.url), "utf8"))
    .join("\n");
  const lists = [...source.matchAll(/(?:refuseFor\(|hints: |asks: [^[\n]*)\s*\[([^\]]*)\]/g)];
  const stated = new Set([
    ...lists.flatMap(([, list]) =>
      [...list.replace(/value: "\w+"/g, "").matchAll(/"(\w+)"/g)].map(([, a]) => a),
    ),
    ...[...source.matchAll(/option: "(\w+)"|reportMissing\(\s*"(\w+)"/g)].map(([, a, b]) => a ?? b),
  ]);
  expect(stated.size).toBeGreaterThan(20);
  for (const option of stated) {
    // A wrong value of a known option is refused otherwise than an unknown name.
    let message = "";
    try {
      createDecoderSync({ family: "yolov8" }, { [option]: Symbol("none") } as DecoderOptions);
    } catch (error) {
      message = String(error);
    }
    if (option !== "quantisation") expect(message, option).not.toContain("an unknown name");
    if (!ELSEWHERE.includes(option)) expect(onCommandLine, option).toContain(option);
  }
});

/** Options that no command has: the command line prepares by options of its own, and writes no such results. */
const ELSEWHERE = [
  "prepare",
  "keypointNames",
  "edges",
  "keypointRefinement",
  "keypointScores",
  "keypointCoordinates",
  "maskCoefficients",
];

test("a text in place of a model is told as text", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "advice-")), "model.onnx");
  writeFileSync(path, "hello");
  const { code, err } = await boxwright("inspect", path);
  expect(code).toBe(1);
  expect(err).toMatch(/model\.onnx: got text that begins with "hello", expected the bytes of ONNX, TFLite/);
});
