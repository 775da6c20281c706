/** Mistakes that frames show: `best`, `onNote` and `fresh`, and the notes on scores, boxes, strides and anchors. */
import { describe, expect, test, vi } from "vitest";
import type { Decoder } from "../../src/decode/decoder.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { loadPlanSync } from "../../src/planfile/decoder.ts";
import { compilePlan } from "../../src/planfile/write.ts";
import { engines } from "../support/engines.ts";

const notesOf = (d: Decoder): readonly string[] => (d.describe().json as { notes: readonly string[] }).notes;

const ROWS = 84;
const NETWORK = { family: "yolov8", labels: ["person", "cat"], inputSize: [64, 64] } as const;
/** Planes of a network of two classes whose boxes all stand in the middle. */
function planes(score: (cell: number, classId: number) => number, box = [32, 32, 16, 16]): Float32Array {
  const data = new Float32Array(6 * ROWS);
  for (let cell = 0; cell < ROWS; cell++)
    [...box, score(cell, 0), score(cell, 1)].forEach(
      (value, channel) => (data[channel * ROWS + cell] = value),
    );
  return data;
}
const output = (data: Float32Array) => ({ output0: { data, dims: [1, 6, ROWS] } });

describe.each(engines)("best, %s", (engine) => {
  const make = () => createDecoderSync(NETWORK, { engine });

  test("is null before the first frame", () => {
    expect(make().best).toBe(null);
  });
  test("is the first detection of a frame that has some", () => {
    const d = make();
    d.decode(output(planes((cell, c) => (cell === 7 && c === 1 ? 0.75 : 0.5))));
    expect(d.best).toEqual({ confidence: 0.75, class_id: 1, label: "cat", source: 7, image: 0 });
  });
  test("is a score below the threshold in a frame without detections, and changes nothing", () => {
    const d = make();
    const found = d.decode(output(planes((cell, c) => (cell === 70 && c === 0 ? 0.125 : 0.0625))));
    const before = JSON.stringify(d.stats);
    expect(d.best).toEqual({ confidence: 0.125, class_id: 0, label: "person", source: 70, image: 0 });
    expect(d.best).toBe(d.best);
    expect(JSON.stringify(d.stats)).toBe(before);
    expect(found.length).toBe(0);
    d.decode(output(planes(() => 0.2)));
    expect(d.best?.confidence).toBe(Math.fround(0.2));
    expect(d.decode(output(planes(() => 0.5))).length).toBe(1);
  });
  test("counts a box that lies outside the image, under rules that clamp before", () => {
    const d = createDecoderSync({ ...NETWORK, rules: "depthai" }, { engine });
    d.decode(output(planes(() => 0.125, [-40, 32, 16, 16])));
    expect(d.best?.confidence).toBe(0.125);
  });
  test("is null if every score is 0 or NaN", () => {
    const d = make();
    d.decode(output(planes(() => 0)));
    expect(d.best).toBe(null);
    d.decode(output(planes(() => NaN)));
    expect(d.best).toBe(null);
  });
  test("is the first of equal scores", () => {
    const d = make();
    d.decode(output(planes((cell, c) => (c === 1 && cell > 8 ? 0.125 : 0.0625))));
    expect(d.best).toMatchObject({ class_id: 1, source: 9 });
  });
  test("names the image of a batch", () => {
    const d = make();
    const data = new Float32Array([...planes(() => 0.0625), ...planes(() => 0.125)]);
    d.decodeBatch({ output0: { data, dims: [2, 6, ROWS] } });
    expect(d.best?.image).toBe(1);
  });
});

test("best is null where only the rows that pass were copied", () => {
  const d = createDecoderSync({ family: "yolov5", classes: 2, inputSize: [64, 64] });
  const rows = { output0: { data: new Float32Array(252 * 7).fill(0.125), dims: [1, 252, 7] } };
  d.decode(rows);
  expect(d.best?.confidence).toBe(0.125 * 0.125);
  d.decode(rows);
  expect(d.best).toBe(null);
});

describe("frames without detections", () => {
  const run = (frames: number, score: number, options: object = {}): Decoder => {
    const d = createDecoderSync({ ...NETWORK, ...options });
    for (let i = 0; i < frames; i++) d.decode(output(planes(() => score)));
    return d;
  };
  test("a first frame of zeros is told", () => {
    expect(notesOf(run(1, 0))).toEqual([
      "every score of the first frame is 0: has the network run, and is this the tensor that it wrote?",
    ]);
  });
  test("a first frame of zeros is told under rules that let a threshold of 0 pass 0 too", () => {
    expect(notesOf(run(1, 0, { rules: "depthai" }))).toHaveLength(1);
  });
  test("nothing is said of scores if no class is kept", () => {
    expect(notesOf(run(40, 0.9, { keep: [] }))).toEqual(["keep names no class: nothing will be found"]);
  });
  test("a list padded with scores of 0 is not told", () => {
    const d = createDecoderSync({
      family: "boxes",
      classes: 2,
      coordinates: "normalised",
      roles: { boxes: "b", scores: "s", classIds: "l" },
    });
    const zeros = (dims: readonly number[]) => ({
      data: new Float32Array(400).subarray(0, dims[1] * (dims[2] ?? 1)),
      dims,
    });
    d.decode({ b: zeros([1, 100, 4]), s: zeros([1, 100]), l: zeros([1, 100]) });
    expect(notesOf(d)).toEqual([]);
  });
  test("thirty with scores of 1e-4 are told, once, with the best score", () => {
    expect(notesOf(run(29, 1e-4))).toEqual([]);
    const [note, ...more] = notesOf(run(200, 1e-4));
    expect(note).toMatch(
      /^nothing passed the threshold 0\.25 in 30 frames, and the best score of the last one is 0\.0001 \(class person, cell 0\): is the picture prepared/,
    );
    expect(more).toEqual([]);
  });
  test("of 0.25, a thousandth is the scene's own and less is not", () => {
    expect(notesOf(run(30, 0.001)).join()).toContain("an empty scene gives such scores");
    expect(notesOf(run(30, 0.000995)).join()).not.toContain("an empty scene");
  });
  test("zeros of integers are not told, nor is an empty scene after a frame with a detection", () => {
    const d = run(29, 1e-4);
    d.decode(output(planes((cell) => (cell === 0 ? 0.5 : 0.1))));
    for (let i = 0; i < 29; i++) d.decode(output(planes(() => 1e-4)));
    expect(notesOf(d)).toEqual([]);
    const bytes = createDecoderSync(NETWORK);
    const quantised = { data: new Uint8Array(6 * ROWS), dims: [1, 6, ROWS], scale: 1 / 256, zeroPoint: 0 };
    for (let i = 0; i < 100; i++) bytes.decode({ output0: quantised });
    expect(notesOf(bytes)).toEqual([]);
  });
  test("rows that would be gathered are looked at whole", () => {
    const d = createDecoderSync({ family: "yolov5", classes: 2, inputSize: [64, 64] });
    const rows = { output0: { data: new Float32Array(252 * 7).fill(0.001), dims: [1, 252, 7] } };
    for (let i = 0; i < 30; i++) d.decode(rows);
    expect(notesOf(d)).toEqual([expect.stringMatching(/^nothing passed the threshold/)]);
  });
});

describe("onNote", () => {
  test("gets each note once, over all plans", () => {
    const onNote = vi.fn();
    const d = createDecoderSync(NETWORK, { onNote });
    for (let i = 0; i < 3; i++) d.decode(output(planes(() => 0)));
    d.decode({ other: { data: planes(() => 0), dims: [1, 6, ROWS] } });
    expect(onNote.mock.calls).toEqual([[expect.stringMatching(/^every score of the first frame is 0/)]]);
  });
  test("gets the notes of shapes that are known beforehand at once", () => {
    const onNote = vi.fn();
    createDecoderSync(
      { ...NETWORK, keep: [] },
      { onNote, outputs: [{ name: "output0", dims: [1, 6, ROWS] }] },
    );
    expect(onNote.mock.calls).toEqual([["keep names no class: nothing will be found"]]);
  });
  test("gets the note of a second plan that has as many notes as the first", () => {
    const onNote = vi.fn();
    const d = createDecoderSync(
      { family: "yolov8", labels: ["person", "cat"] },
      { onNote, inputSize: [64, 64] },
    );
    const found = output(planes((cell) => (cell === 0 ? 0.5 : 0.1)));
    d.decode({ ...found, other: { data: new Float32Array(3), dims: [1, 3] } });
    d.decode({
      result: found.output0,
      another: { data: new Float32Array(3), dims: [1, 3] },
    });
    expect(onNote.mock.calls).toEqual([
      [expect.stringMatching(/^left alone: "?other/)],
      [expect.stringMatching(/^left alone: "?another/)],
    ]);
  });
  test("cannot decode with the same decoder, which would overwrite the result", () => {
    const caught: unknown[] = [];
    const noted = output(planes((cell) => [NaN, 0.75][cell] ?? 0.1));
    const d = createDecoderSync(NETWORK, {
      onNote() {
        try {
          d.decode(output(planes(() => 0.5)));
        } catch (error) {
          caught.push(error);
        }
      },
    });
    expect(d.decode(noted).scores[0]).toBe(0.75);
    expect(caught.map(String)).toEqual([
      expect.stringMatching(/TensorError: .*from within a call of the same decoder, by onNote/),
    ]);
    // Without a catch the error leaves the outer call, and the next one is served.
    const e = createDecoderSync(NETWORK, { onNote: () => e.decodeBatch(noted) });
    expect(() => e.decode(noted)).toThrow("Use a second decoder");
    expect(e.decode(noted).scores[0]).toBe(0.75);
  });
  test("has to be a function", () => {
    expect(() => createDecoderSync(NETWORK, { onNote: true as never })).toThrow(
      "options.onNote: got true, expected a function",
    );
  });
});

describe("fresh", () => {
  const a = output(planes(() => 0.75));
  const b = output(planes(() => 0.5));
  test("keeps a result that later frames would overwrite", () => {
    const [kept, reused] = [true, false].map((fresh) => {
      const d = createDecoderSync(NETWORK, { fresh });
      const first = d.decode(a);
      d.decode(b);
      return first.scores[0];
    });
    expect([kept, reused]).toEqual([0.75, 0.5]);
  });
  test("is refused among the typed options, where it would do nothing", () => {
    expect(() => createDecoderSync({ ...NETWORK, fresh: true } as never)).toThrow(/^fresh: got/);
    expect(() => createDecoderSync({ ...NETWORK, onNote: () => {} } as never)).toThrow(/^onNote: got/);
  });
  test("holds for batches", () => {
    const d = createDecoderSync(NETWORK, { fresh: true });
    const [first] = d.decodeBatch(a);
    d.decodeBatch(b);
    expect(first.scores[0]).toBe(0.75);
  });
});

describe("boxes that are none of a picture", () => {
  test("rows of YOLOX under another family lie in the corner", () => {
    const d = createDecoderSync({ family: "yolov5", classes: 1, inputSize: [640, 640] });
    const data = new Float32Array(25200 * 6);
    for (let row = 0; row < 100; row++) data.set([0.5, 0.4, 2.5 + (row % 3), 2.2, 0.9, 0.9], row * 6);
    d.decode({ output0: { data, dims: [1, 25200, 6] } });
    expect(notesOf(d)).toEqual([
      expect.stringMatching(/^all of the first 100 candidates lie within 3 pixels of the left/),
    ]);
  });
  test("data in another order than its dims has boxes without area", () => {
    const d = createDecoderSync({ family: "boxes", classes: 1, coordinates: "normalised" });
    const boxes = Float32Array.from({ length: 40 }, (_, i) => [0.5, 0.25, 0.5, 0.75][i % 4]);
    d.decode({
      boxes: { data: boxes, dims: [1, 10, 4] },
      scores: { data: new Float32Array(10).fill(0.9), dims: [1, 10, 1] },
    });
    expect(notesOf(d)).toEqual([
      expect.stringMatching(/^10 of the first 10 candidates have no width or no height/),
    ]);
  });
  test("middles a tenth of the input beyond one edge are told, of either side, and nearer ones are not", () => {
    const notes = (...box: number[]): readonly string[] => {
      const d = createDecoderSync(NETWORK);
      d.decode(output(planes(() => 0.5, box)));
      return notesOf(d).filter((note) => note.startsWith("boxes stand around"));
    };
    expect(notes(71, 32, 16, 16)).toHaveLength(1);
    expect(notes(32, 71, 16, 16)).toHaveLength(1);
    expect(notes(70, 70, 16, 16)).toEqual([]);
  });
  test("boxes within two pixels are refused, larger ones are not", () => {
    const one = (size: number) => () => {
      const d = createDecoderSync(NETWORK);
      const box = [size / 2, size / 2, size, size];
      return d.decode(output(planes((cell) => (cell === 0 ? 0.5 : 0), box))).length;
    };
    expect(one(2)).toThrow("got boxes within 2 pixels of the corner");
    expect(one(2.125)()).toBe(1);
  });
  test("pixels are refused as 0..1 also without an input size", () => {
    const d = createDecoderSync({ family: "yolov8", classes: 2, coordinates: "normalised" });
    expect(() => d.decode(output(planes(() => 0.5, [320, 320, 100, 100])))).toThrow(
      'got box coordinates up to 370, expected 0..1; if they are pixels, say coordinates: "pixels"',
    );
  });
});

test("without an input size, the count of rows proposes one", () => {
  const d = createDecoderSync({ family: "yolov8", classes: 2 });
  expect(() => d.decode({ output0: { data: new Float32Array(6 * 2100), dims: [1, 6, 2100] } })).toThrow(
    /expected inputSize: \[width, height\] .*; 2100 rows are those of a 320x320 input$/,
  );
});

describe("raw maps", () => {
  const anchors = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326];
  const maps = (cells: readonly number[]) =>
    Object.fromEntries(
      cells.map((n) => [`map${n}`, { data: new Float32Array(21 * n * n).fill(-9), dims: [1, 21, n, n] }]),
    );
  const decoded = (config: object, cells: readonly number[]): Decoder => {
    const d = createDecoderSync({ family: "yolov5", classes: 2, anchors, ...config });
    d.decode(maps(cells));
    return d;
  };
  test("of another input size are told, with the size that fits", () => {
    expect(notesOf(decoded({ inputSize: [320, 320] }, [80, 40, 20]))).toEqual([
      "maps 80, 40, 20 cells wide have the strides 4, 8, 16 in a 320x320 input, and yolov5 usually has 8, 16, 32: " +
        "is the input 640x640? The option strides settles it",
    ]);
    expect(notesOf(decoded({ inputSize: [320, 320], strides: [4, 8, 16] }, [80, 40, 20]))).toEqual([]);
    expect(notesOf(decoded({ inputSize: [640, 640] }, [80, 40, 20]))).toEqual([]);
  });
  test("have their stride in describe()", () => {
    expect(decoded({ inputSize: [640, 640] }, [80, 40, 20]).describe().text).toMatch(
      /cells from number 0, stride 8, box/,
    );
  });
  test("with width and height of published anchors swapped are told", () => {
    const swapped = anchors.map((_, i) => anchors[i ^ 1]);
    expect(notesOf(decoded({ inputSize: [640, 640], anchors: swapped }, [80, 40, 20]))).toEqual([
      "the anchors are published ones with width and height swapped: is their order w, h?",
    ]);
  });
});

describe("maps that are missing", () => {
  const dfl = (cells: readonly number[], config: object = {}): readonly string[] => {
    const d = createDecoderSync({ family: "yolov8", classes: 2, inputSize: [640, 640], ...config });
    d.decode(cells.map((n) => ({ data: new Float32Array(66 * n * n).fill(-9), dims: [1, 66, n, n] })));
    return notesOf(d);
  };
  test("of a head of distributions are told by their strides", () => {
    const told = (stride: string): string =>
      `no map has stride ${stride}: objects of that size are lost if the network has one. The option strides settles it`;
    expect(dfl([80, 40])).toEqual([told("32")]);
    expect(dfl([80, 20])).toEqual([told("16")]);
    expect(dfl([40, 20])).toEqual([told("8")]);
    expect(dfl([20])).toEqual([told("8 or 16")]);
  });
  test("are none where all are there, with P2 or P6 too, or where strides names those there are", () => {
    for (const cells of [
      [80, 40, 20],
      [160, 80, 40, 20],
      [80, 40, 20, 10],
    ])
      expect(dfl(cells)).toEqual([]);
    expect(dfl([80, 40], { strides: [8, 16] })).toEqual([]);
  });
  test("because no anchors fit them are told with the stride that is lost", () => {
    const map = (n: number) => ({ data: new Float32Array(21 * n * n).fill(-9), dims: [1, 21, n, n] });
    const notes = (anchors: unknown): readonly string[] => {
      const network = { family: "yolov5", classes: 2, inputSize: [416, 416], scores: "logits", anchors };
      const d = createDecoderSync(network as never);
      d.decode([map(26), map(13)]);
      return notesOf(d);
    };
    const large = [81, 82, 135, 169, 344, 319];
    expect(notes([[10, 14, 23, 27, 37, 58], large])).toEqual([]);
    expect(notes([[10, 14, 23, 27], large])).toEqual([
      "left alone: output0 [1,21,26,26]; no map at stride 16 is read: objects of that size are lost if the network " +
        "has one. Do anchors and classes fit it?",
    ]);
  });
});

test("a runtime without memory is named, with what helps", () => {
  const { Memory } = WebAssembly;
  vi.spyOn(WebAssembly, "Memory").mockImplementation(function () {
    throw new RangeError("could not allocate memory");
  });
  try {
    const d = createDecoderSync(NETWORK, { engine: "scalar" });
    expect(() => d.decode(output(planes(() => 0)))).toThrow(
      /^memory: got none from the runtime \(could not allocate memory\), expected \d+ bytes\. Keep one decoder/,
    );
  } finally {
    vi.restoreAllMocks();
  }
  expect(WebAssembly.Memory).toBe(Memory);
});

test("a rule by another name is answered with ours", () => {
  const make = () => createDecoderSync({ ...NETWORK, rules: { agnostic: true } as never });
  expect(make).toThrow(/rules.agnostic: got an unknown name, .*did you mean suppress: "all"/);
});

describe.each(engines)("boxes that the clamp empties, %s", (engine) => {
  const network = { ...NETWORK, coordinates: "normalised", rules: "depthai" } as const;
  test("are refused as pixels before the clamp empties them", () => {
    const d = createDecoderSync(network, { engine });
    expect(() => d.decode(output(planes(() => 0.75, [320, 320, 100, 100])))).toThrow(
      'got box coordinates up to 370, expected 0..1; if they are pixels, say coordinates: "pixels"',
    );
  });
  test("are counted, and told", () => {
    const d = createDecoderSync(network, { engine });
    expect(d.decode(output(planes(() => 0.75, [-2, 0.5, 0.5, 0.5]))).length).toBe(0);
    expect(d.stats.dropped).toEqual({ capped: 0, notFinite: 0, empty: ROWS });
    expect(notesOf(d)).toEqual([
      expect.stringMatching(/^all 84 candidates of frame 1 lie outside the image/),
    ]);
  });
  test("are counted one by one, in rows that end a vector", () => {
    for (const outside of [1, 3, 4, 5, 17]) {
      const d = createDecoderSync(network, { engine });
      const data = planes((cell) => (cell < outside + 2 ? 0.75 : 0), [0.5, 0.5, 0.25, 0.25]);
      for (let cell = 0; cell < outside; cell++) data[cell] = -2;
      d.decode(output(data));
      expect(d.stats.dropped.empty).toBe(outside);
    }
  });
});

describe("a class that wins almost every query is the background", () => {
  const QUERIES = 100;
  /** Softmax logits of DETR: 91 classes and "no object" behind them. Query `q` prefers `best(q)`. */
  const queries = (best: (q: number) => number) => {
    const logits = new Float32Array(QUERIES * 92).fill(-5);
    for (let q = 0; q < QUERIES; q++) logits[q * 92 + best(q)] = 5;
    const boxes = Float32Array.from({ length: QUERIES * 4 }, (_, i) => 0.25 + ((i * 37) % 100) / 400);
    return {
      logits: { data: logits, dims: [1, QUERIES, 92] },
      pred_boxes: { data: boxes, dims: [1, QUERIES, 4] },
    };
  };
  const told = (config: object, outputs: object): readonly string[] => {
    const d = createDecoderSync(config);
    d.decode(outputs as never);
    return notesOf(d);
  };
  test("of 92 classes of DETR one is no object", () => {
    const empty = queries((q) => (q === 5 ? 17 : 91));
    expect(told({ family: "detr", classes: 92 }, empty)).toEqual([
      'class 91 wins 99 of 100 queries: is it the background ("no object")? Then leave it out of classes, and say its place by background',
    ]);
    expect(told({ family: "detr", classes: 91 }, empty)).toEqual([]);
    // A crowd: most queries see a person, and not all.
    expect(
      told(
        { family: "detr", classes: 91 },
        queries((q) => (q < 85 ? 1 : 91)),
      ),
    ).toEqual([]);
  });
  test("of the classes of SSD the first is the background", () => {
    const priors = new Float32Array(400).map((_, i) => (i % 4 < 2 ? 0.5 : 0.25));
    const scores = new Float32Array(400).map((_, i) => (i % 4 === 0 ? 0.98 : 0.001));
    scores.set([0.05, 0.001, 0.9, 0.001], 40);
    const outputs = {
      boxes: {
        data: Float32Array.from({ length: 400 }, (_, i) => ((i * 37) % 101) / 4000),
        dims: [1, 100, 4],
      },
      scores: { data: scores, dims: [1, 100, 4] },
    };
    const ssd = { family: "ssd", classes: 3, inputSize: [300, 300], priors, scales: [10, 10, 5, 5] };
    expect(told(ssd, outputs)).toEqual([]);
    for (const wrong of [{ background: 3 }, { background: false, classes: 4 }])
      expect(told({ ...ssd, ...wrong }, outputs)).toEqual([
        expect.stringMatching(/^class 0 wins 99 of 100 priors: is it the background/),
      ]);
  });
});

test("logits that all lie in 0..1 are told; one above 1 shows that they are logits, and so do zeros", () => {
  const notes = (most: number): readonly string[] => {
    const data = new Float32Array(7 * 84);
    data.fill(most === 0 ? 0 : 0.25).fill(most, 6 * 84);
    const d = createDecoderSync({ family: "yolox", classes: 2, inputSize: [64, 64], scores: "logits" });
    d.decode({ output0: { data, dims: [1, 84, 7] } });
    return notesOf(d).filter((note) => note.includes("already lies in 0..1"));
  };
  expect(notes(1)).toHaveLength(1);
  expect(notes(1.5)).toEqual([]);
  expect(notes(0)).toEqual([]);
});

describe("candidates that all lie in the padding of the frame's letterbox", () => {
  // A picture of 128x64 lies in rows 16 to 48 of the input.
  const letterbox = { width: 128, height: 64, resize: "letterbox" } as const;
  const topLeft = { ...letterbox, resize: "letterbox-topleft" } as const;
  const passing = (box: readonly number[]) => output(planes(() => 0.9, [...box]));
  const paddingNotes = (notes: readonly string[]) => notes.filter((note) => note.includes("in the padding"));

  test.each([
    ["above", letterbox, [32, 8, 16, 12], 1],
    ["below", letterbox, [32, 56, 16, 12], 1],
    ["in the picture", letterbox, [32, 32, 16, 12], 0],
    ["at its edge, within a pixel", letterbox, [32, 15.5, 16, 12], 0],
    ["below a picture in the corner", topLeft, [32, 40, 16, 12], 1],
    ["anywhere in a stretched picture", { ...letterbox, resize: "stretch" } as const, [32, 8, 16, 12], 0],
  ] as const)("%s", (_, frame, box, count) => {
    const d = createDecoderSync(NETWORK);
    d.decode(passing(box), frame);
    d.decode(passing(box), frame);
    expect(paddingNotes(notesOf(d))).toHaveLength(count);
    const notes: string[] = [];
    const file = compilePlan(NETWORK, { outputs: [{ name: "output0", dims: [1, 6, ROWS] }] }).bytes;
    loadPlanSync(file, { onNote: (note) => notes.push(note) }).decode(passing(box), frame);
    expect(paddingNotes(notes)).toHaveLength(count);
  });

  test("few of them are no mistake once others have stood in the picture", () => {
    const d = createDecoderSync(NETWORK);
    d.decode(passing([32, 32, 16, 12]), letterbox);
    d.decode(output(planes((cell) => (cell === 7 ? 0.9 : 0), [32, 8, 16, 12])), letterbox);
    expect(paddingNotes(notesOf(d))).toHaveLength(0);
    d.decode(passing([32, 8, 16, 12]), letterbox);
    expect(paddingNotes(notesOf(d))).toHaveLength(1);
  });
});

test.each<readonly [string, (score: number, row: number) => number, number, boolean]>([
  ["as they are", (score) => score, 40, false],
  ["after another sigmoid", (score) => 1 / (1 + Math.exp(-score)), 40, true],
  ["after another sigmoid, of few rows", (score) => 1 / (1 + Math.exp(-score)), 15, false],
  ["of which the network drops those below 0.55", (_, row) => 0.55 + 0.06 * (row / 40), 40, false],
  ["of which the network drops those below 0.5", (_, row) => 0.5 + 0.23 * (row / 40), 40, false],
])("scores of a finished list %s", (_, scoreOf, rows, isTold) => {
  // x1, y1, x2, y2, score, class id: scores fall from 0.95, as those of a network do.
  const data = Float32Array.from({ length: rows * 6 }, (_, i) => {
    const row = Math.floor(i / 6);
    return [row, row, row + 20, row + 20, scoreOf(0.95 * 0.8 ** row, row), 0][i % 6];
  });
  const decoder = createDecoderSync({ family: "yolo26", classes: 1, inputSize: [64, 64] });
  decoder.decode({ output0: { data, dims: [1, rows, 6] } });
  const told = notesOf(decoder).filter((note) => note.includes("is it applied once too often?"));
  expect(told).toHaveLength(isTold ? 1 : 0);
});

describe("tensors of another count of cells, after the first frame", () => {
  /** Notes of a decoder that gets tensors of these dims one after the other, each with one detection. */
  function notesOfFrames(config: object, shapes: readonly (readonly number[])[]): unknown[] {
    const onNote = vi.fn();
    const d = createDecoderSync({ ...NETWORK, ...config }, { onNote });
    for (const dims of shapes) {
      const data = new Float32Array(dims[1] * dims[2]);
      [32, 16, 20, 24, 0.1, 0.75].forEach((v, channel) => (data[channel * dims[2] + 10] = v));
      expect(d.decode({ output0: { data, dims } }).length).toBe(1);
    }
    return onNote.mock.calls.flat();
  }
  const note = (is: number, was: number): string =>
    `tensors of ${is} cells come after tensors of ${was}, and both would be of a 64x64 input: are both of this network?`;

  // 85 cells are those of strides 8, 16, 32 and 64, so the shapes alone look right.
  test("are told of once in each direction", () => {
    const shapes = [
      [1, 6, 84],
      [1, 6, 85],
      [1, 6, 84],
      [1, 6, 85],
    ];
    expect(notesOfFrames({}, shapes)).toEqual([note(85, 84), note(84, 85)]);
  });
  test("are not told of if the count stays", () => {
    expect(
      notesOfFrames({}, [
        [1, 6, 84],
        [1, 6, 84],
      ]),
    ).toEqual([]);
    expect(notesOfFrames({}, [[1, 6, 85]])).toEqual([]);
  });
});
