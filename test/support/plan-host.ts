/**
 * A host of plan files, as embedded/ is one: it knows the tables of the file, and a kernel with a memory of its own.
 */
import { expect } from "vitest";
import * as A from "../../src/core/abi.ts";
import { PAGE } from "../../src/kernels/kernel.ts";
import { readScalarKernel } from "../../src/node/kernel.ts";
import * as F from "../../src/planfile/format.ts";
import { standaloneKernel } from "../../src/planfile/standalone-kernel.ts";

interface Kernel {
  memory: { buffer: ArrayBuffer };
  abiVersion(): number;
  decode(plan: number): number;
}

/** Copies the beginning of a plan file into memory, fills the slots, decodes, and reads the columns. */
export function host(file: Uint8Array, tensors: Readonly<Record<string, Float32Array>>) {
  const word = (at: number, index: number) =>
    new DataView(file.buffer, file.byteOffset).getUint32(at + 4 * index, true);
  const text = (at: number) => new TextDecoder().decode(file.subarray(at, file.indexOf(0, at)));
  const memoryBytes = word(0, F.F_MEMORY_BYTES);
  const kernel = standaloneKernel(readScalarKernel(), Math.ceil(memoryBytes / PAGE));
  const instance = new WebAssembly.Instance(new WebAssembly.Module(kernel));
  const { memory, abiVersion, decode } = instance.exports as unknown as Kernel;
  expect(abiVersion()).toBe(word(0, F.F_ABI));
  expect(memory.buffer.byteLength).toBeGreaterThanOrEqual(memoryBytes);
  new Uint8Array(memory.buffer).fill(0xa5);
  new Uint8Array(memory.buffer).set(file.subarray(0, word(0, F.F_IMAGE_BYTES)));
  const slots = Array.from({ length: word(0, F.F_SLOTS) }, (_, i) => {
    const row = word(0, F.F_SLOT_TABLE) + i * F.SLOT_WORDS * 4;
    const name = text(word(row, F.S_NAME));
    const dims = Array.from({ length: word(row, F.S_RANK) }, (_, k) => word(row, F.S_DIM_0 + k));
    expect(word(row, F.S_BYTES)).toBe(tensors[name].byteLength);
    new Float32Array(memory.buffer, word(row, F.S_ADDRESS), tensors[name].length).set(tensors[name]);
    return { name, dims };
  });
  const images = Array.from({ length: word(0, F.F_IMAGES) }, (_, i) => {
    const row = word(0, F.F_IMAGE_TABLE) + i * F.IMAGE_WORDS * 4;
    const n = decode(word(row, F.I_PLAN));
    expect(new Int32Array(memory.buffer)[word(row, F.I_PLAN) / 4 + A.P_DETECTIONS]).toBe(n);
    return {
      boxes: new Float32Array(memory.buffer, word(row, F.I_BOXES), 4 * n).slice(),
      scores: new Float32Array(memory.buffer, word(row, F.I_SCORES), n).slice(),
      labels: new Int32Array(memory.buffer, word(row, F.I_CLASS_IDS), n).slice(),
      sources: new Uint32Array(memory.buffer, word(row, F.I_SOURCES), n).slice(),
    };
  });
  const labels = Array.from({ length: word(0, F.F_LABELS) }, (_, i) =>
    text(word(word(0, F.F_LABEL_TABLE), i)),
  );
  return { slots, images, labels };
}
