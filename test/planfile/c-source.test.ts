import { expect, test } from "vitest";
import { cSource } from "../../src/planfile/c-source.ts";
import { compilePlan } from "../../src/planfile/write.ts";

test("C source holds the words of the file, and a plan for C needs less memory", () => {
  const compiled = compilePlan(
    { family: "yolov8", classes: 1, inputSize: [64, 64] },
    { outputs: [{ name: "evil */ name", dims: [1, 5, 84] }] },
  );
  const source = cSource("tiny", compiled);
  const words = [...source.matchAll(/0x([0-9a-f]{8})u/g)].map((m) => parseInt(m[1], 16));
  expect(words).toEqual([...new Uint32Array(compiled.bytes.buffer)]);
  expect(source).toContain(`static const uint32_t tiny[${words.length}]`);
  expect(source).toContain(`tiny_memory_bytes = ${compiled.layout.bytes},`);
  // the comment ends where it should
  expect(source.indexOf("*/")).toBe(source.indexOf("\n */") + 2);
  // scratch that only other engines need is left out of memory, and nothing else changes its place
  const scalarOnly = compilePlan(
    { family: "yolov8", classes: 20, inputSize: [64, 64] },
    { outputs: [{ name: "o", dims: [1, 24, 84] }] },
    () => null,
    true,
  );
  const whole = compilePlan(
    { family: "yolov8", classes: 20, inputSize: [64, 64] },
    { outputs: [{ name: "o", dims: [1, 24, 84] }] },
  );
  expect(whole.layout.scratch).toBe(scalarOnly.layout.scratch);
  expect(whole.layout.bytes - scalarOnly.layout.bytes).toBeGreaterThan(20_000);
  expect(() => cSource("1st", compiled)).toThrow(/name: got "1st", expected a C identifier/);
});
