/** Network files of other formats are told by name, by their bytes and by their endings. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readModel } from "../../../src/entries/index.ts";
import { readInput } from "../../../src/entries/node.ts";

const folder = mkdtempSync(join(tmpdir(), "other-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const put = (name: string, bytes: Uint8Array | string): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: 64 }, (_, i) => (i < text.length ? text.charCodeAt(i) : 200 + (i % 7)));

describe("by their bytes", () => {
  test.each([
    ["\x20\x00\x00\x00ORTM", "ONNX Runtime's own format (.ort)"],
    ["\x01HEF", "Hailo (.hef)"],
    ["RKNN\x00\x00", "Rockchip (.rknn)"],
    ["ftrt", "an engine of TensorRT"],
    ["7767517\n75 83\n", "ncnn"],
    ["\x89HDF", "a Keras file"],
    ["PK\x03\x04", "a PyTorch checkpoint (.pt)"],
  ])("%j", async (beginning, told) => {
    await expect(readModel(bytesOf(beginning))).rejects.toThrow(told);
  });
});

describe("by their endings, whatever the bytes are", () => {
  test.each([
    "a.ort",
    "a.hef",
    "a.rknn",
    "b.xml",
    "b.param",
    "a.engine",
    "a.mlmodel",
    "a.pb",
    "a.pdmodel",
    "a.HEF",
  ])("%s", async (name) => {
    const path = put(name, bytesOf("\x08anything"));
    await expect(readInput(path)).rejects.toThrow(/got .*(pass the ONNX file|convert (it|the network))/);
  });
  test.each(["param", "xml"])("weights beside .%s", async (ending) => {
    put(`c-${ending}.${ending}`, "7767517");
    const weights = put(`c-${ending}.bin`, bytesOf("w"));
    await expect(readInput(weights)).rejects.toThrow(
      `got the weights of c-${ending}.${ending}, expected tensors, or the ONNX`,
    );
  });
});
