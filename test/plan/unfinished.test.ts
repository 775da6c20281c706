/** What a file says, and what the tensors say against it: rows of all cells, rotated rows, names of another network. */
import { expect, test } from "vitest";
import { createDecoder, createDecoderSync, readModel } from "../../src/entries/index.ts";
import { input, output, ultralyticsOnnx } from "../support/model-files.ts";
import { onnxFile } from "../support/onnx.ts";

const notesOf = (): { notes: string[]; onNote: (note: string) => void } => {
  const notes: string[] = [];
  return { notes, onNote: (note) => void notes.push(note) };
};

test.each([
  [640, 8400],
  [320, 2100],
])("rows of all cells of %i pixels are suppressed, with a note", (side, rows) => {
  const { notes, onNote } = notesOf();
  const data = new Float32Array(rows * 6);
  for (let i = 0; i < rows; i++) data.set([9, 9, 30, 30, 0.001, 2], i * 6);
  for (let i = 0; i < 5; i++) data.set([100 + i, 100, 200 + i, 200, 0.9 - i / 100, 1], (90 + i) * 6);
  const options = { family: "yolov8", classes: 80, inputSize: [side, side] } as const;
  expect(createDecoderSync(options, { onNote }).decode({ o: { data, dims: [1, rows, 6] } })).toHaveLength(1);
  expect(notes.join()).toContain("suppressed nothing");
});

test("rows of a list are not suppressed again", () => {
  const data = new Float32Array(300 * 6);
  for (let i = 0; i < 3; i++) data.set([100 + i, 100, 200 + i, 200, 0.9, 1], i * 6);
  const options = { family: "yolov8", classes: 80, inputSize: [640, 640] } as const;
  expect(createDecoderSync(options).decode({ o: { data, dims: [1, 300, 6] } })).toHaveLength(3);
});

test("rotated rows of mmdeploy have their angle before the score", () => {
  const data = new Float32Array(100 * 6);
  data.set([300, 400, 80, 30, 0.5, 0.9], 0);
  const outputs = {
    dets: { data, dims: [1, 100, 6] },
    labels: { data: new Int32Array(100).fill(3), dims: [1, 100] },
  };
  const options = { family: "mmdeploy", classes: 15, inputSize: [1024, 1024] } as const;
  expect(() => createDecoderSync(options).decode(outputs)).toThrow(
    /rotated boxes, expected task: "oriented"/,
  );
  const [best] = createDecoderSync({ ...options, task: "oriented" })
    .decode(outputs)
    .toArray();
  expect(best).toMatchObject({ class_id: 3 });
  expect(best.confidence).toBeCloseTo(0.9);
  expect(best.angle).toBeCloseTo(0.5);
});

test("labels of the caller go before names of the file that do not fit", async () => {
  const names = `{${Array.from({ length: 80 }, (_, i) => `${i}: 'c${i}'`).join(", ")}}`;
  const file = ultralyticsOnnx({ names }, [output("output0", 1, 5, 84)]);
  const model = readModel(file);
  await expect(model).resolves.toMatchObject({ missing: [{ path: "classes" }] });
  for (const options of [{ labels: ["shoe"] }, { family: "yolov8", labels: ["shoe"] } as const])
    expect((await createDecoder(await model, options)).describe().text).toContain("class-rows");
});

test("shapes that a file declares for an open input yield to those that come", async () => {
  const shapes = (scale: number) =>
    [["s", 1] as const, ["b", 4] as const, ["k", 10] as const].flatMap(([name, values]) =>
      [12800, 3200, 800].map((rows, i) => [`${name}${i}`, [rows / scale, values]] as const),
    );
  const file = onnxFile({
    inputs: [input(1, 3, "h", "w")],
    outputs: shapes(1).map(([name, dims]) => output(name, ...dims)),
  });
  const decoder = await createDecoder(await readModel(file), { family: "scrfd", inputSize: [320, 320] });
  const outputs = Object.fromEntries(
    shapes(4).map(([name, dims]) => [
      name,
      { data: new Float32Array(dims[0] * dims[1]).fill(name.startsWith("s") ? 0 : 1), dims: [...dims] },
    ]),
  );
  outputs.s1.data[101] = 0.9;
  expect(decoder.decode(outputs)).toHaveLength(1);
});
