/** Mistakes with pictures that `prepare` and `decode` can tell, and pictures that they must not doubt. */
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { createDecoderSync, createDetector, onnxRuntime } from "../../src/entries/index.ts";
import { readImage } from "../../src/entries/node.ts";
import { echoOnnx } from "../support/echo-network.ts";
import { readFixture } from "../support/files.ts";

const photos = await Promise.all(
  ["chelsea.png", "dogs.jpg", "hopper.jpg", "coffee.jpg"].map(async (name) => ({
    name,
    photo: await readImage(readFixture(`photos/${name}`)),
  })),
);

const OPTIONS = { family: "yolov8", classes: 1, inputSize: [64, 64] } as const;

function decoderWithNotes() {
  const notes: string[] = [];
  const decoder = createDecoderSync(OPTIONS, { onNote: (note) => void notes.push(note) });
  return { decoder, notes };
}

/** Colours of an RGBA picture, three bytes a pixel or as three planes. */
function coloursOf({ data }: { data: ArrayLike<number> }, arePlanes: boolean): Uint8Array {
  const count = data.length / 4;
  const colours = new Uint8Array(3 * count);
  for (let i = 0; i < count; i++)
    for (let c = 0; c < 3; c++) colours[arePlanes ? c * count + i : 3 * i + c] = data[4 * i + c];
  return colours;
}

describe.each(photos)("$name", ({ photo }) => {
  const { width, height } = photo;

  test("as it is, in any format, gets no note", () => {
    const { decoder, notes } = decoderWithNotes();
    decoder.prepare(photo);
    decoder.prepare({ data: coloursOf(photo, false), width, height, format: "rgb" });
    const gray = coloursOf(photo, false).map((_, i, all) => all[i - (i % 3)]);
    decoder.prepare({ data: gray, width, height, channels: 3 });
    decoder.prepare({ data: gray.subarray(0, width * height), width, height, format: "gray" });
    expect(notes).toEqual([]);
  });

  test.each([{ format: "rgb" }, { format: "bgr" }, { channels: 3 }] as const)(
    "planes as %o get a note",
    (how) => {
      const { decoder, notes } = decoderWithNotes();
      decoder.prepare({ data: coloursOf(photo, true), width, height, ...how });
      expect(notes).toEqual([
        expect.stringMatching(/look like planes, one for each colour, .* height, width, channels/),
      ]);
      // Plans come and go, the note stays.
      decoder.decode({ output0: { data: new Float32Array(5 * 84).fill(0.01), dims: [1, 5, 84] } });
      expect(decoder.describe().text).toContain("look like planes");
      decoder.prepare({ data: coloursOf(photo, true), width, height, ...how });
      expect(notes).toHaveLength(1);
    },
  );
});

test("floats of 0..1 that became bytes get a note, after blank pictures too", () => {
  const { decoder, notes } = decoderWithNotes();
  const blank = { data: new Uint8Array(32 * 16 * 4), width: 32, height: 16 };
  for (let i = 0; i < 5; i++) decoder.prepare(blank);
  expect(notes).toEqual([]);
  const data = Uint8Array.from({ length: 32 * 16 * 4 }, (_, i) => (i % 7) / 6);
  decoder.prepare({ ...blank, data });
  expect(notes).toEqual([
    expect.stringMatching(/^every byte of the picture is 0 or 1: .* Pass bytes of 0..255$/),
  ]);
});

test("a dark picture is no such one", () => {
  const { decoder, notes } = decoderWithNotes();
  const data = Uint8Array.from({ length: 32 * 16 * 4 }, (_, i) => (i % 4 === 3 ? 255 : i % 2));
  decoder.prepare({ data, width: 32, height: 16 });
  expect(notes).toEqual([]);
});

test("a detector looks at its pictures too, and not at the blank one of its start", async () => {
  const notes: string[] = [];
  const ort = createRequire(import.meta.url)("onnxruntime-node") as never;
  const source = { model: echoOnnx(), runtime: onnxRuntime(ort) };
  const detector = await createDetector(source, { onNote: (note) => void notes.push(note) });
  await detector.detect({ data: new Uint8Array(32 * 24 * 4).fill(1), width: 32, height: 24 });
  expect(notes.filter((note) => note.startsWith("every byte of the picture is 0 or 1"))).toHaveLength(1);
});

describe("a frame that prepare returned and decode did not get", () => {
  const found = { output0: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
  [32, 32, 20, 24, 0.9].forEach((value, channel) => (found.output0.data[channel * 84] = value));
  const wide = { data: new Uint8Array(128 * 64 * 4).fill(90), width: 128, height: 64 };
  const forgotten = (notes: string[]) => notes.filter((note) => note.includes("decode(outputs, frame)"));

  test("is told once: boxes lie elsewhere", () => {
    const { decoder, notes } = decoderWithNotes();
    const { frame } = decoder.prepare(wide);
    const [inPicture] = decoder.decode(found, frame).toArray();
    expect(forgotten(notes)).toEqual([]);
    const [inInput] = decoder.decode(found).toArray();
    expect(inInput.y_min).not.toBeCloseTo(inPicture.y_min, 2);
    decoder.decode(found);
    expect(forgotten(notes)).toHaveLength(1);
    expect(forgotten(notes)[0]).toContain('(128x64, "letterbox")');
  });

  test("is no matter if the input is the picture, or nobody prepared one", () => {
    const { decoder, notes } = decoderWithNotes();
    decoder.decode(found);
    decoder.prepare({ data: new Uint8Array(64 * 64 * 4).fill(90), width: 64, height: 64 });
    decoder.decode(found);
    expect(forgotten(notes)).toEqual([]);
  });

  test("matters for a picture on its side", () => {
    const { decoder, notes } = decoderWithNotes();
    decoder.prepare({ data: new Uint8Array(64 * 64 * 4).fill(90), width: 64, height: 64, rotation: 1 });
    decoder.decode(found);
    expect(forgotten(notes)).toHaveLength(1);
  });
});

describe("a frame that contradicts the one of prepare", () => {
  const found = { output0: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
  [32, 32, 20, 24, 0.9].forEach((value, channel) => (found.output0.data[channel * 84] = value));
  const picture = (width: number, height: number) => ({
    data: new Uint8Array(width * height * 4).fill(90),
    width,
    height,
  });
  const wide = picture(128, 64);
  const told = (notes: string[]) => notes.filter((note) => note.includes("decode() got another one"));

  test.each([
    [
      { width: 64, height: 128, resize: "letterbox" },
      '(64x128, "letterbox"): are width and height exchanged?',
    ],
    [{ width: 128, height: 64, resize: "stretch" }, '(128x64, "stretch"): boxes are moved or stretched'],
  ] as const)("is told once: %j", (frame, words) => {
    const { decoder, notes } = decoderWithNotes();
    for (let i = 0; i < 3; i++) {
      decoder.prepare(wide);
      decoder.decode(found, frame);
    }
    expect(told(notes)).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    ["that prepare returned", undefined],
    ["of the original, which was scaled before", { width: 1280, height: 640, resize: "letterbox" }],
    ["of the original, which was padded before", { width: 128, height: 96, resize: "letterbox" }],
    ["that says the same", { width: 128, height: 64, resize: "letterbox" }],
  ] as const)("is not told of a frame %s", (_, frame) => {
    const { decoder, notes } = decoderWithNotes();
    const { frame: prepared } = decoder.prepare(wide);
    decoder.decode(found, frame ?? prepared);
    expect(told(notes)).toEqual([]);
  });

  test("is not told where pictures overlap, or come from elsewhere", () => {
    const { decoder, notes } = decoderWithNotes();
    const frame = { width: 64, height: 128, resize: "letterbox" } as const;
    // Two under way: the first decode is of the first picture, which stands upright.
    decoder.prepare(picture(64, 128));
    for (let i = 0; i < 3; i++) {
      decoder.prepare(wide);
      decoder.decode(found, frame);
    }
    expect(told(notes)).toEqual([]);
    const other = decoderWithNotes();
    const { frame: first } = other.decoder.prepare(wide);
    other.decoder.decode(found, first);
    // Tensors of another program.
    other.decoder.decode(found, frame);
    expect(told(other.notes)).toEqual([]);
  });
});
