/** `checks` and `explain` of `boxwright/core`: what a decoder without them still does, and what it does not. */
import { describe, expect, test } from "vitest";
import { ConfigError, TensorError } from "../../src/core/errors.ts";
import { type CoreOptions, checks, createDecoderSync, explain } from "../../src/entries/core.ts";

const NETWORK = { family: "yolov8", classes: 2, inputSize: [64, 64] } as const;
const ROWS = 84;
/** Planes [4 + 2][84]: a box in the middle of each cell's row, and its scores. */
function outputOf(score: (cell: number) => number, box = [32, 32, 16, 16]) {
  const data = new Float32Array(6 * ROWS);
  for (let cell = 0; cell < ROWS; cell++)
    [...box, score(cell), 0].forEach((value, channel) => (data[channel * ROWS + cell] = value));
  return { output0: { data, dims: [1, 6, ROWS] } };
}
const one = outputOf((cell) => (cell === 3 ? 0.9 : 0.1));

/** Returns the notes of a decode. */
function notesWith(options: CoreOptions, outputs: ReturnType<typeof outputOf>): string[] {
  const notes: string[] = [];
  createDecoderSync(NETWORK, { ...options, onNote: (note) => notes.push(note) }).decode(outputs);
  return notes;
}

describe("without checks", () => {
  test("results are the same", () => {
    const found = [{}, { checks }, { checks, explain }].map((options) =>
      createDecoderSync(NETWORK, options).decode(one).toArray(),
    );
    expect(found[0]).toHaveLength(1);
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  });

  test.each([
    ["above 1, that would pass", outputOf((cell) => (cell === 3 ? 1.5 : 0.1))],
    ["below 0, that would not", outputOf((cell) => (cell === 3 ? -2 : 0.1))],
  ])("a probability %s is refused all the same", (_, outputs) => {
    for (const options of [{}, { checks }]) {
      const decoder = createDecoderSync(NETWORK, options);
      expect(() => decoder.decode(outputs)).toThrow(TensorError);
      expect(() => decoder.decode(outputs)).toThrow('if the tensor holds logits, say scores: "logits"');
    }
  });

  test("a later frame is refused too", () => {
    const decoder = createDecoderSync(NETWORK);
    decoder.decode(one);
    expect(() => decoder.decode(outputOf(() => 1.5))).toThrow("a score outside 0..1");
  });

  test("what is odd passes without a word", () => {
    const zeros = outputOf(() => 0);
    expect(notesWith({ checks }, zeros)).toEqual([
      expect.stringContaining("every score of the first frame is 0"),
    ]);
    expect(notesWith({}, zeros)).toEqual([]);
    const small = outputOf((cell) => (cell === 3 ? 0.9 : 0.1), [0.5, 0.5, 0.1, 0.1]);
    expect(() => createDecoderSync(NETWORK, { checks }).decode(small)).toThrow(
      'say coordinates: "normalised"',
    );
    expect(createDecoderSync(NETWORK).decode(small)).toHaveLength(1);
  });
});

describe("without explain", () => {
  test("tensors that fit no reading are refused in short, with the value to pass", () => {
    const wrong = { output0: { data: new Float32Array(7 * ROWS), dims: [1, 7, ROWS] } };
    expect(() => createDecoderSync(NETWORK).decode(wrong)).toThrow(
      "got output0 [1,7,84], expected tensors of yolov8; to be told which, " +
        'import { explain } from "boxwright/core", and createDecoder(config, { explain })',
    );
    expect(() => createDecoderSync(NETWORK, { explain }).decode(wrong)).toThrow(
      /^got output0 \[1,7,84\], expected for yolov8 /,
    );
  });

  test("tensors that fit several readings are refused with their names", () => {
    const config = { family: "yolov8", classes: 80, inputSize: [64, 64] } as const;
    const square = { output0: { data: new Float32Array(84 * 84), dims: [1, 84, 84] } };
    const messageWith = (options: CoreOptions): string => {
      try {
        createDecoderSync(config, options).decode(square);
        return "";
      } catch (e) {
        return (e as Error).message;
      }
    };
    expect(messageWith({ explain })).toContain("ways:");
    expect(messageWith({})).toMatch(
      /^got output0 \[1,84,84\], expected tensors that can be read in one way, /,
    );
  });

  test("describe is refused with the line to write", () => {
    const decoder = createDecoderSync(NETWORK);
    expect(() => decoder.describe()).toThrow(ConfigError);
    expect(() => decoder.describe()).toThrow(
      'options.explain: got none for describe(), expected import { explain } from "boxwright/core", ' +
        "and createDecoder(config, { explain })",
    );
    expect(createDecoderSync(NETWORK, { explain }).describe().text).toContain("family: yolov8");
  });

  test("a plan has no notes of its own, and checks tell theirs", () => {
    const config = { ...NETWORK, keep: [] };
    const told = (options: CoreOptions): string[] => {
      const notes: string[] = [];
      createDecoderSync(config, { ...options, onNote: (note) => notes.push(note) }).decode(one);
      return notes;
    };
    expect(told({ explain })).toEqual(["keep names no class: nothing will be found"]);
    expect(told({})).toEqual([]);
  });
});

test.each([true, {}, "checks", null])("%j is none of the values", (value) => {
  for (const name of ["checks", "explain"]) {
    const make = (): unknown => createDecoderSync(NETWORK, { [name]: value });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(
      new RegExp(`^options.${name}: got .*, expected the value ${name} of boxwright/core$`),
    );
  }
});
