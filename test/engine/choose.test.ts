import { expect, test } from "vitest";
import { createDecoder, createDecoderSync } from "../../src/whole/decoder.ts";
import { makeEngine, provideTs } from "../../src/engine/choose.ts";
import { tsEngine } from "../../src/engine/ts/index.ts";
import { engines } from "../support/engines.ts";

provideTs(tsEngine);

const config = { family: "yolov8", classes: 2, inputSize: [64, 64] };

test("there are three engines, each once", () => {
  expect(engines).toHaveLength(3);
  expect(new Set(engines).size).toBe(3);
});

test.each(engines)("%s instantiates under its name, over memory of its own kind", async (name) => {
  const engine = makeEngine(name, 1000);
  expect(engine.name).toBe(name);
  expect(engine.memory.buffer.byteLength).toBeGreaterThanOrEqual(1000);
  // WebAssembly memory comes in pages of 64 KiB, that of the TypeScript engine in 16 bytes
  expect(engine.memory.buffer.byteLength % 65536 === 0).toBe(name !== "ts");
  expect(createDecoderSync(config, { engine: name }).engine).toBe(name);
  expect((await createDecoder(config, { engine: name })).engine).toBe(name);
});

test("auto takes vectors where there are any", async () => {
  expect(createDecoderSync(config).engine).toBe("simd");
  expect((await createDecoder(config, { engine: "auto" })).engine).toBe("simd");
});
