import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import { inspect, type PossibilityList } from "../../src/node/inspect-tensors.ts";
import { EVIDENCE } from "../../src/shapes/evidence.ts";
import { FORM_ROWS, propose } from "../../src/shapes/propose.ts";
import { CORPUS } from "./corpus.ts";

const specsOf = (words: string) =>
  words.split(" ").map((word) => {
    const [, name, dims] = /^(.*):([\dx]+)$/.exec(word) as RegExpExecArray;
    return { name, dims: dims.split("x").map(Number) };
  });
const sizeOf = (word: string): readonly [number, number] | undefined =>
  word === "-" ? undefined : (word.split("x").map(Number) as [number, number]);

function ask(line: string): {
  readonly list: PossibilityList;
  readonly answer: string;
  readonly words: string;
} {
  const [words, size, answer] = line.split(" | ");
  const inputSize = sizeOf(size);
  const list = inspect(null, specsOf(words), { ...(inputSize && { inputSize }) }).json as PossibilityList;
  return { list, answer, words };
}

/** Returns values that a seed tells, so that a failure can be repeated. */
function randomValues(count: number, seed: number): Float32Array {
  let state = seed;
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = state / 2 ** 32;
  }
  return values;
}

describe("of each network the right reading comes first", () => {
  test.each(CORPUS)("%s", (line) => {
    const { list, answer } = ask(line);
    if (answer === "none") {
      expect(list.possibilities).toEqual([]);
      expect(list.looksLike).toMatch(/./);
      return;
    }
    expect(list.looksLike).toBeUndefined();
    const [{ options, classes }] = list.possibilities;
    const [family, ...more] = answer.split(" ");
    const [count, points] = more.slice(/^[a-z]/.test(more[0]) ? 1 : 0);
    expect(options.family).toBe(family);
    if (/^[a-z]/.test(more[0])) expect(options.task).toBe(more[0]);
    if (count !== "?") expect(classes).toBe(Number(count));
    if (points) expect(options.keypoints?.join("x")).toBe(points);
  });
});

test("a stated family needs no usual count of classes or size of a map", () => {
  const read = (family: "yolov2" | "fastestdet", dims: number[], side: number) => {
    const tensors = [{ name: "o", dims, type: "f32" as const }];
    return propose({ tensors, inputSize: [side, side], options: { family } }).proposals[0]?.classes;
  };
  expect(read("yolov2", [1, 150, 13, 13], 416)).toBe(25);
  expect(read("fastestdet", [1, 12, 8, 8], 256)).toBe(7);
});

test("a task in the name of the file decides between readings of equal shapes", () => {
  const read = (name: string) => {
    const tensors = [{ name: "output0", dims: [1, 7, 21504], type: "f32" as const }];
    const { options, classes } = propose({ tensors, inputSize: [1024, 1024], names: [name] }).proposals[0];
    return [options.task, classes];
  };
  expect(read("yolo11n-obb.onnx")).toEqual(["oriented", 2]);
  expect(read("yolo11n.onnx")).toEqual([undefined, 3]);
});

test("a list beside the rows is no count of them", () => {
  const familiesOf = (words: string) =>
    ask(`${words} | - | none`).list.possibilities.map(({ options }) => options.family);
  for (const words of ["dets:1x100x6 labels:1x100", "output0:1x300x6 output1:1x300"])
    for (const family of ["paddle-nms", "ppyoloe", "picodet"])
      expect(familiesOf(words)).not.toContain(family);
  expect(familiesOf("multiclass_nms3_0.tmp_0:100x6 multiclass_nms3_0.tmp_2:1")[0]).toBe("paddle-nms");
});

test("masks without their prototypes: first if 80 classes are told so, beside where a file names all outputs", () => {
  const read = (words: string) =>
    ask(`${words} | 640x640 | none`).list.possibilities.map(
      ({ options: { task = "detect" }, classes }) => `${task} ${classes}`,
    );
  expect(read("output0:1x116x8400").slice(0, 2)).toEqual(["segment 80", "detect 112"]);
  expect(read("output0:1x37x8400").slice(0, 2)).toEqual(["detect 33", "segment 1"]);
  expect(read("output0:1x84x8400").join()).not.toContain("segment");
  const [first] = ask("output0:1x116x8400 | 640x640 | none").list.possibilities;
  expect(first.missing).toEqual(["outputs: these and the prototypes of masks, [1,32,h,w]"]);
  const inFile = propose({
    tensors: [{ name: "output0", dims: [1, 116, 8400], type: "f32" }],
    inputs: [{ name: "images", dims: [1, 3, 640, 640] }],
    inputSize: [640, 640],
  }).proposals.map(({ classes }) => classes);
  expect(inFile.slice(0, 2)).toEqual([112, 80]);
});

test("five points of YOLOv7-face are a reading beside 16 classes", () => {
  const { possibilities } = ask("output:1x25200x21 | 640x640 | none").list;
  const read = possibilities.map(({ options: { task = "detect", keypoints }, classes }) =>
    [task, classes, keypoints?.join("x")].join(" ").trim(),
  );
  expect(read.slice(0, 2)).toEqual(["detect 16", "pose 1 5x3"]);
});

test("five anchors are offered for one map, or for several with a usual count of classes", () => {
  const families = (words: string) =>
    ask(`${words} | - | none`).list.possibilities.map(({ options }) => options.family);
  expect(families("a:1x22x22x95 b:1x11x11x95")).not.toContain("yolov5");
  expect(families("a:1x52x52x30 b:1x26x26x30")).toContain("yolov5");
});

describe("the likely size of the input, from the count of rows", () => {
  test.each([
    ["output0:1x84x8400", "640x640"],
    ["output0:1x84x4620", "640x352"],
    ["output0:1x84x5040", "640x384"],
    ["output0:1x84x6300", "640x480"],
    ["output0:1x84x2184", "416x256"],
    ["output0:1x84x34000", "640x640"],
    ["output:1x3598x112", "416x416"],
    ["tmp_16:1x2125x4 concat_4.tmp_0:1x1x2125", "320x320"],
    ["loc:1x4200x4 conf:1x4200x2 landms:1x4200x10", "320x320"],
    ["output0:1x300x6", "640x640"],
  ])("%s", (words, size) => {
    const [{ likelySize }] = ask(`${words} | - | none`).list.possibilities;
    expect(likelySize.join("x")).toBe(size);
    // Asked again with that size, the tensors are read.
    expect(ask(`${words} | ${size} | none`).list.possibilities).not.toEqual([]);
  });
});

describe("the first proposal, followed, decodes random values", () => {
  const known = CORPUS.filter((line) => !line.endsWith("| none"));
  test.each(known)("%s", (line) => {
    const { list, words } = ask(line);
    const [{ options, likelySize, missing, classes }] = list.possibilities;
    const anchors = /anchors: (.*) pairs/.exec(missing.join())?.[1].split(" + ").map(Number);
    const long = specsOf(words)[0].dims.filter((d) => d > 1);
    // Caffe's offsets lie in one dimension, four for each prior.
    const rows = Math.max(...long) / (long.length === 1 ? 4 : 1);
    const decoder = createDecoderSync({
      ...options,
      inputSize: options.inputSize ?? likelySize,
      ...(classes === null && { classes: 80 }),
      ...(anchors && { anchors: anchors.map((n) => Array.from({ length: n }, () => [10, 20])) }),
      ...(missing.includes("priors") && {
        priors: new Float32Array(4 * rows).fill(0.5),
        scales: [10, 10, 5, 5],
      }),
    } as never);
    const outputs = specsOf(words).map(({ name, dims }, i) => ({
      name,
      dims,
      data: randomValues(
        dims.reduce((a, b) => a * b, 1),
        i + 1,
      ),
    }));
    // Random values may contradict what a form says of its values. Every error but those is a fault of the proposal.
    try {
      expect(decoder.decode(outputs as never).length).toBeGreaterThanOrEqual(0);
    } catch (error) {
      expect((error as Error).message).not.toMatch(/expected (for|\[1|boxes with|maps)|can be read in/);
    }
  });
});

test("rules of evidence have an example each, and forms too", () => {
  for (const { name, example } of EVIDENCE) expect(example.length, name).toBeGreaterThan(5);
  for (const form of FORM_ROWS) expect(form.example, form.families.join()).toMatch(/:\d/);
});

describe("dims that a file leaves open", () => {
  const answerTo = (
    names: string,
    dims: readonly (readonly (number | null)[])[],
    ids: readonly number[] = [],
  ) => {
    const tensors = names.split(" ").map((name, i) => ({
      name,
      dims: dims[i],
      type: ids.includes(i) ? ("i32" as const) : ("f32" as const),
    }));
    const [first] = propose({ tensors }).proposals;
    return [first?.options.family, first?.options.task, first?.classes];
  };

  test("masks of torchvision, with names and without", () => {
    const dims = [[null, 4], [null], [null], [null, 1, null, null]];
    expect(answerTo("boxes labels scores masks", dims, [1])).toEqual(["mask-rcnn", "segment", null]);
    expect(answerTo("6568 6570 6572 6887", dims, [1])).toEqual(["mask-rcnn", "segment", null]);
    expect(answerTo("6379 6381 6383", dims.slice(0, 3), [1])).toEqual(["boxes", undefined, null]);
  });

  test("a batch before maps, prototypes and scores of a picture", () => {
    const maps = [80, 40, 20].map((side) => [null, 255, side, side]);
    expect(answerTo("a b c", maps)).toEqual(["yolov5", undefined, 80]);
    const prototypes = [null, 32, null, null];
    expect(answerTo("output0 output1", [[null, 116, null], prototypes])).toEqual(["yolov8", "segment", 80]);
    expect(answerTo("output", [[null, 1000]])).toEqual(["classifier", undefined, 1000]);
  });

  test("masks of RTMDet-Ins", () => {
    const dims = [
      [null, null, 5],
      [null, null],
      [null, null, null, null],
    ];
    expect(answerTo("dets labels masks", dims, [1])).toEqual(["rtmdet-ins", "segment", null]);
  });

  test("rows of each level, and masks of a list", () => {
    const rows = [1, 4, 10].flatMap((k) => [0, 1, 2].map(() => [null, k]));
    expect(answerTo("448 471 494 451 474 497 454 477 500", rows)).toEqual(["scrfd", undefined, 1]);
    const masks = [[null], [null, 5], [null, 28, 28]];
    expect(answerTo("labels boxes masks", masks, [0])).toEqual(["mask-rcnn", "segment", null]);
  });

  test("DeepStream's lists with masks for the boxes, whose lists have a dimension of 1 at the end", () => {
    const list = [null, 100, 1];
    expect(
      answerTo("boxes scores classes masks", [[null, 100, 4], list, list, [null, 100, 160, 160]]),
    ).toEqual(["mask-rcnn", "segment", null]);
  });

  test("a line of text of any width is read by a recogniser", () => {
    const tensors = [{ name: "fetch_name_0", dims: [null, null, 438], type: "f32" as const }];
    const asked = (height: number) =>
      propose({ tensors, inputs: [{ name: "x", dims: [null, 3, height, null] }] }).proposals.length;
    expect(asked(48)).toBe(0);
    expect(asked(480)).toBeGreaterThan(0);
  });

  test("rows of any count beside an input of one picture are a list, and no scores of a batch", () => {
    const tensors = [{ name: "rows", dims: [null, 17], type: "f32" as const }];
    const familyFor = (batch: number | null) =>
      propose({ tensors, inputs: [{ name: "x", dims: [batch, 3, 224, 224] }] }).proposals[0]?.options.family;
    expect(familyFor(1)).toBeUndefined();
    expect(familyFor(null)).toBe("classifier");
  });

  test("Detectron2 without names also outputs the size of the picture", () => {
    const lists = [[null, 4], [null], [null]];
    expect(answerTo("1742 1743 1744 1745", [...lists, [2]], [1, 3])).toEqual(["boxes", undefined, null]);
    const masks = [...lists, [null, 1, 28, 28], [2]];
    expect(answerTo("1742 1743 1744 1745 1746", masks, [1, 4])).toEqual(["mask-rcnn", "segment", null]);
  });

  test("rows beside an input of a sequence are none of ours", () => {
    const tensors = [{ name: "output", dims: [1, null, 1025], type: "f32" as const }];
    const proposalsFor = (dims: readonly (number | null)[]) =>
      propose({ tensors, inputs: [{ name: "signal", dims }] }).proposals.length;
    for (const dims of [
      [1, 80, null],
      [null, null, 80],
      [1, 1, null],
      [1, 80, 3000],
      [null, null],
    ])
      expect(proposalsFor(dims), String(dims)).toBe(0);
    for (const dims of [
      [3, null, null],
      [null, null, 3],
      [1, 3, null, null],
      [1, 480, 640],
    ])
      expect(proposalsFor(dims), String(dims)).toBeGreaterThan(0);
  });

  test("PaddleOCR's map of text; beside another input than x, it may be a matte", () => {
    expect(answerTo("fetch_name_0", [[null, 1, null, null]])[0]).toBe("dbnet");
    const tensors = [{ name: "fetch_name_0", dims: [1, 1, 512, 512], type: "f32" as const }];
    const answerFor = (name: string, options = {}) =>
      propose({ tensors, options, inputSize: [512, 512], inputs: [{ name, dims: [1, 3, 512, 512] }] });
    expect(answerFor("x").proposals[0].options.family).toBe("dbnet");
    expect(answerFor("img").looksLike).toMatch(/matte.*text \(dbnet\)/);
    expect(answerFor("img", { family: "dbnet" }).proposals).toHaveLength(1);
  });
});
