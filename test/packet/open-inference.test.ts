/**
 * Answers of inference servers decode as they are. The bodies are those of the documentation of Triton ("Binary Tensor
 * Data Extension"), KServe (the page of the same name) and OpenVINO Model Server ("Predict on Binary Inputs via KServe
 * API"), with bytes in the place of "<24 bytes of data for output0 tensor>".
 */
import { describe, expect, test } from "vitest";
import { createDecoderSync, fromPacket } from "../../src/entries/index.ts";
import { smallNetwork } from "./support.ts";

/** Returns a body: JSON as it is spelt, then the bytes of arrays. */
const body = (json: string, ...arrays: readonly { readonly buffer: ArrayBufferLike }[]): Uint8Array =>
  Buffer.concat([Buffer.from(json), ...arrays.map(({ buffer }) => new Uint8Array(buffer))]);

const triton = `{
  "outputs" : [
    {
      "name" : "output0",
      "shape" : [ 3, 2 ],
      "datatype"  : "FP32",
      "parameters" : {
        "binary_data_size" : 24
      }
    }
  ]
}
`;
const kserve = `{
  "outputs": [
    {
      "name": "output0",
      "shape": [3, 2],
      "datatype": "FP16",
      "parameters": {
        "binary_data_size": 16
      }
    },
    {
      "name": "output1",
      "shape": [2, 2],
      "datatype": "FP32",
      "data": [[1.203, 5.403], [3.434, 34.234]]
    }
  ]
}`;
const openvino = `{
  "outputs" : [
    {
      "name" : "output0",
      "shape" : [ 2, 2 ],
      "datatype"  : "FP32",
      "parameters" : {
        "binary_data_size" : "16"
      }
    }
  ]
}`;

describe("documented bodies", () => {
  test("Triton: FP32 behind the JSON", () => {
    const values = Float32Array.of(1, -2, 3.5, 0, 1e-20, 65504);
    const { kind, id, source, tensors } = fromPacket(body(triton.trimEnd(), values));
    expect([kind, id, source]).toEqual(["raw", null, null]);
    expect(tensors).toEqual([{ name: "output0", dims: [3, 2], type: "fp32", data: values }]);
  });
  test("KServe: FP16 behind the JSON and FP32 in it. Its page says 16 bytes for 6 elements, which are 12", () => {
    const halves = Uint16Array.of(0x3c00, 0xc000, 0, 0x7bff, 1, 0x8000);
    expect(() => fromPacket(body(kserve, halves, new Uint16Array(2)))).toThrow(
      /binary_data_size: got 16, expected/,
    );
    const [binary, listed] = fromPacket(body(kserve.replace("16\n", "12\n"), halves)).tensors;
    expect([binary.type, binary.data]).toEqual(["fp16", halves]);
    expect([listed.dims, listed.data]).toEqual([[2, 2], Float32Array.of(1.203, 5.403, 3.434, 34.234)]);
  });
  test("OpenVINO Model Server: sizes as text, as its page writes those of inputs", () => {
    const values = Float32Array.of(1, 2, 3, 4);
    expect(fromPacket(body(openvino, values)).tensors[0].data).toEqual(values);
  });
  test("padded with spaces", () => {
    const json = openvino.padEnd(Math.ceil(openvino.length / 8) * 8);
    expect(json.length).toBeGreaterThan(openvino.length);
    const bytes = Uint8Array.from(body(json, Float32Array.of(1, 2, 3, 4)));
    const { data } = fromPacket(bytes).tensors[0];
    expect(data.buffer).toBe(bytes.buffer);
    expect(Array.from(data as Float32Array)).toEqual([1, 2, 3, 4]);
  });
  test("cut off, with too much behind, and an error", () => {
    const bytes = body(triton.trimEnd(), new Float32Array(6));
    expect(() => fromPacket(bytes.subarray(0, -1))).toThrow(/cut off: length: got \d+, expected \d+/);
    expect(() => fromPacket(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(/foreign: length/);
    expect(() => fromPacket(body('{"error":"model yolo is not ready"}'))).toThrow(/model yolo is not ready/);
  });
});

test("each datatype of a JSON answer", () => {
  const lists: readonly [string, string, ArrayLike<unknown>][] = [
    ["FP32", "fp32", Float32Array.of(1, 2)],
    ["FP64", "fp64", Float64Array.of(1, 2)],
    ["INT8", "int8", Int8Array.of(1, 2)],
    ["UINT8", "uint8", Uint8Array.of(1, 2)],
    ["INT16", "int16", Int16Array.of(1, 2)],
    ["INT32", "int32", Int32Array.of(1, 2)],
    ["UINT32", "uint32", Uint32Array.of(1, 2)],
    ["INT64", "int64", BigInt64Array.of(1n, 2n)],
    ["UINT64", "uint64", BigUint64Array.of(1n, 2n)],
  ];
  const outputs = lists.map(([datatype]) => ({
    name: datatype,
    shape: [1, 2, 1],
    datatype,
    data: [[[1], [2]]],
  }));
  const { id, tensors } = fromPacket(body(JSON.stringify({ model_name: "m", id: "req-1", outputs })));
  expect(id).toBe("req-1");
  expect(tensors.map(({ type, data }) => [type, data])).toEqual(lists.map(([, type, data]) => [type, data]));
});

test("a YOLOv8 behind a server gives the boxes of the same tensor in this process", () => {
  const { config, outputs } = smallNetwork();
  const decoder = createDecoderSync(config);
  const { data, dims } = outputs.output0;
  const expected = decoder.decode(outputs).toArray();
  expect(expected).toHaveLength(1);
  const output = { name: "output0", datatype: "FP32", shape: dims };
  const binary = JSON.stringify({ outputs: [{ ...output, parameters: { binary_data_size: 4 * 5 * 84 } }] });
  const listed = JSON.stringify({ outputs: [{ ...output, data: Array.from(data as Float32Array) }] });
  for (const bytes of [body(binary, data as Float32Array), body(listed)])
    expect(decoder.receive(fromPacket(bytes)).toArray()).toEqual(expected);
});
