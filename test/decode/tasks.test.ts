/** The seams that a task uses: options, extra channels, rules, columns. The task of this test reads plain numbers. */
import { describe, expect, test } from "vitest";
import type { DecoderOptions, TaskConfig } from "../../src/config/types.ts";
import { parseConfig } from "../../src/config/config.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { Detections, extend, setLength } from "../../src/decode/detections.ts";
import { toPixels } from "../../src/decode/pixels.ts";
import { createDecoderSync as createCoreDecoder, explain } from "../../src/entries/core.ts";
import { ConfigError, refuseFor } from "../../src/core/errors.ts";
import type { DecoderTask, NetworkTask } from "../../src/decode/tasks.ts";
import { readAdded } from "../../src/heads/extra.ts";
import { firstSource, headIndexOf, readChannels } from "../../src/memory/extra.ts";
import type { Column } from "../../src/heads/channels.ts";
import { prepare } from "../../src/tasks/prepare/task.ts";
import { ALL_TASKS } from "../../src/whole/tasks.ts";
import { engines } from "../support/engines.ts";

/** Extra channels of the task. */
const EXTRA = 2;
/** The images that the task was called after. */
const images: number[] = [];

const probe: NetworkTask<"oriented"> = {
  task: "oriented",
  rules: { suppress: "none" },
  read(query, specs) {
    const named = query.roles?.angles;
    const found = readAdded(query, specs, { channels: EXTRA, names: named ? [named].flat() : null });
    if (found.length === 0) refuseFor([{ option: "classes" }], "probe", "nothing", "something");
    return found.map((one) => ({
      ...one,
      task: { name: "oriented", about: "probe: two numbers", tensors: [] },
    }));
  },
  attach(work) {
    const { plan, detections, note } = work;
    detections.forEach((found) => {
      const angles = new Float32Array(plan.maxDetections * EXTRA);
      extend(
        found,
        { angles },
        {
          row: ({ angles: all }, row, d) => (d.angle = all?.[row * EXTRA]),
          copy: (from, to) =>
            extend(to, { angles: from.angles?.slice(0, to.length * EXTRA) }, { copy: () => undefined }),
        },
      );
    });
    return (image) => {
      images.push(image);
      const found = detections[image];
      for (let row = 0; row < found.length; row++) {
        const k = headIndexOf(plan.heads, found.sources[row]);
        const cell = found.sources[row] - firstSource(plan.heads, k);
        const column = plan.heads[k].extra as Column;
        readChannels(work, column, image, cell, EXTRA, found.angles as Float32Array, row * EXTRA);
      }
      if (found.length > 3) setLength(found, 3);
      note("probe has run");
    };
  },
};

const TYPED = { family: "yolov8", classes: 1, coordinates: "normalised" } as const;
/** Two boxes that overlap fully, in rows of 4 + 1 + 2. */
const rows = [0.5, 0.5, 0.2, 0.2, 0.9, 11, 12, 0.5, 0.5, 0.2, 0.2, 0.8, 21, 22];
const asPlanes = Array.from({ length: 14 }, (_, i) => rows[(i % 2) * 7 + Math.floor(i / 2)]);

describe("without the task", () => {
  const refusal = (task: string, value: string): string =>
    `options.tasks: got none for "${task}", expected import { ${value} } from "boxwright/core", ` +
    `and createDecoder(config, { tasks: [${value}] })`;

  test.each([
    ["pose", "pose", { task: "pose", keypoints: [17, 3] }],
    ["segment", "masks", { task: "segment" }],
    ["oriented", "oriented", { task: "oriented" }],
    // All networks of the family give keypoints.
    ["pose", "pose", { family: "scrfd" }],
    ["suppression", "suppression", { suppression: "soft-gaussian" }],
  ] as const)("%s is refused with the line to write", (task, value, more) => {
    const config = { ...TYPED, ...more };
    expect(() => createCoreDecoder(config)).toThrow(ConfigError);
    expect(() => createCoreDecoder(config)).toThrow(refusal(task, value));
    expect(() => createCoreDecoder(config, { tasks: [prepare] })).toThrow(refusal(task, value));
    expect(createCoreDecoder(config, { tasks: ALL_TASKS }).configHash).toBe(
      createDecoderSync(config).configHash,
    );
  });

  test("an archive whose head has keypoints is never read as boxes", () => {
    const head = { parser: "YOLO", metadata: { n_classes: 1, anchors: null, n_keypoints: 17 } };
    const archive = { config_version: "1.0", model: { heads: [head] } };
    expect(() => createCoreDecoder(archive)).toThrow(refusal("pose", "pose"));
  });

  test("prepare and records with columns of a task are refused with the line to write", () => {
    const decoder = createCoreDecoder({ ...TYPED, inputSize: [32, 32] }, { explain });
    const image = { data: new Uint8Array(4), width: 1, height: 1 };
    expect(() => decoder.prepare(image)).toThrow(refusal("prepare", "prepare"));
    expect(() => decoder.prepareRule).toThrow(ConfigError);
    expect(decoder.describe().text).not.toContain("picture:");
    const d = { class_id: 0, label: "0", confidence: 1, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };
    const corners = [0, 1, 2, 3].map(() => ({ x: 0, y: 0 }));
    const receive = (more: object): unknown =>
      decoder.receive({ detectionsBy: (_, columnsOf) => columnsOf([{ ...d, ...more }], [0]) });
    expect(() => receive({ keypoints: [] })).toThrow(refusal("pose", "pose"));
    expect(() => receive({ corners, angle: 0 })).toThrow(refusal("oriented", "oriented"));
    expect(() => receive({})).not.toThrow();
  });

  test.each([[prepare], ["pose"], [["pose"]], [[null]], [{}], [[{ task: "detect" }]]])(
    "tasks: %j is no list of tasks, or one",
    (tasks) => {
      const make = (): unknown => createCoreDecoder(TYPED, { tasks: tasks as unknown as DecoderTask[] });
      expect(make).toThrow(ConfigError);
      expect(make).toThrow("options.tasks: got");
    },
  );

  test("boxwright passes all tasks and takes no list of them", () => {
    expect(() => createDecoderSync(TYPED, { tasks: [probe] } as DecoderOptions)).toThrow(
      "options.tasks: got an unknown name",
    );
    expect(() => parseConfig({ ...TYPED, task: "classify" })).toThrow(
      "one of detect, pose, segment, oriented",
    );
  });

  test("detect is what a decoder does anyway", () => {
    const data = { data: rows, dims: [1, 2, 7] };
    const decoder = createDecoderSync({ ...TYPED, classes: 3, task: "detect" }, { iouThreshold: 1 });
    expect(() => decoder.decode({ output0: data })).toThrow("score");
    expect(createDecoderSync(TYPED).configHash).toBe(createDecoderSync({ ...TYPED }).configHash);
    expect(parseConfig(TYPED).task).toBeNull();
    expect(() => new Detections(...EMPTY).mask(0)).toThrow(
      'got no masks, expected what a decoder with task "segment" returned',
    );
  });
});

const EMPTY = [new Float32Array(), new Float32Array(), new Int32Array(), new Uint32Array(), null] as const;

describe("with a task", () => {
  const tasks = [probe];
  const options: DecoderOptions = { task: "oriented" };

  describe.each(engines)("%s", (engine) => {
    test.each([
      ["rows", { output0: { data: rows, dims: [1, 2, 7], order: "rows" } }, {}],
      ["planes", { output0: { data: asPlanes, dims: [1, 7, 2], order: "planes" } }, {}],
      [
        "a tensor of its own",
        {
          boxes: { data: [...rows.slice(0, 5), ...rows.slice(7, 12)], dims: [1, 2, 5], order: "rows" },
          more: { data: [11, 21, 12, 22], dims: [1, 2, 2], order: "planes" },
        },
        { roles: { angles: "more" } },
      ],
      [
        "integers",
        {
          boxes: { data: [...rows.slice(0, 5), ...rows.slice(7, 12)], dims: [1, 2, 5], order: "rows" },
          more: {
            data: Int8Array.of(20, 40, 22, 42),
            dims: [1, 2, 2],
            scale: 0.5,
            zeroPoint: -2,
            order: "planes",
          },
        },
        { roles: { angles: "more" } },
      ],
    ] as const)("%s", (_, tensors, more) => {
      const decoder = createCoreDecoder(TYPED, { ...options, ...more, engine, tasks, explain });
      const found = decoder.decode(tensors);
      // The rules of the task: both boxes are kept.
      expect(found.length).toBe(2);
      expect([...(found.angles?.subarray(0, 4) ?? [])]).toEqual([11, 12, 21, 22]);
      expect(found.at(1)?.angle).toBe(21);
      const kept = structuredClone(found.copy());
      expect([...(kept.angles ?? [])]).toEqual([11, 12, 21, 22]);
      expect(decoder.describe().text).toContain("\nprobe: two numbers\nnote: probe has run");
      decoder.decode(tensors);
      expect(decoder.describe().text.split("probe has run")).toHaveLength(2);
    });
  });

  test("each image of a batch", () => {
    images.length = 0;
    const data = [...rows, ...rows.map((x) => (x > 1 ? x + 100 : x))];
    const decoder = createCoreDecoder(TYPED, { ...options, tasks });
    const [, second] = decoder.decodeBatch({ output0: { data, dims: [2, 2, 7], order: "rows" } });
    expect(images).toEqual([0, 1]);
    expect([...(second.angles?.subarray(0, 4) ?? [])]).toEqual([111, 112, 121, 122]);
  });

  test("an option of the task alone means the task; options go over the config's", () => {
    const task = (config: object, over?: DecoderOptions): TaskConfig | null =>
      createDecoderSync(config as typeof TYPED, over).config.task;
    expect(task({ ...TYPED, maskCoefficients: 3 })).toEqual({ name: "segment", maskCoefficients: 3 });
    const segment = { ...TYPED, task: "segment" };
    expect(task(segment, { maskCoefficients: 4 })).toMatchObject({ maskCoefficients: 4 });
    expect(() => task({ ...TYPED, maskCoefficients: "3" })).toThrow("maskCoefficients: got");
    expect(() => task({ ...TYPED, maskCoefficents: 3 })).toThrow(
      "an unknown name, expected a known one; did you mean maskCoefficients?",
    );
  });

  test("the task says what it expects", () => {
    const decoder = createCoreDecoder(TYPED, { ...options, tasks });
    expect(() => decoder.decode({ a: { data: [1], dims: [1, 1] } })).toThrow(
      "got nothing, expected something",
    );
  });

  test("an archive's head says its task", () => {
    const head = { parser: "YOLO", metadata: { n_classes: 1, anchors: null, angles_outputs: ["a"] } };
    expect(parseConfig({ config_version: "1.0", model: { heads: [head] } }).task).toMatchObject({
      name: "oriented",
    });
  });
});

test("toPixels takes points along", () => {
  const d = { class_id: 0, label: "0", confidence: 1, x_min: 0, y_min: 0, x_max: 1, y_max: 1 };
  const keypoints = [{ x: 0.5, y: 0.25, confidence: 0.75 }];
  expect(toPixels({ ...d, keypoints, corners: [{ x: 0, y: 1 }] }, 100, 200)).toMatchObject({
    keypoints: [{ x: 50, y: 50, confidence: 0.75 }],
    corners: [{ x: 0, y: 200 }],
  });
});

test("toPixels of four corners gives the centre and the sides of the turned box", () => {
  const d = { class_id: 0, label: "0", confidence: 1, x_min: 0, y_min: 0, x_max: 0.7, y_max: 0.7 };
  // 50 by 100 along (3, 4) / 5 and (-4, 3) / 5 from (80, 0), in an image of 200 by 400 pixels.
  const corners = [
    { x: 80, y: 0 },
    { x: 0, y: 60 },
    { x: 30, y: 100 },
    { x: 110, y: 40 },
  ].map(({ x, y }) => ({ x: x / 200, y: y / 400, confidence: 1 }));
  const pixels = toPixels({ ...d, corners }, 200, 400);
  for (const [key, expected] of Object.entries({ cx: 55, cy: 50, width: 50, height: 100 }))
    expect(pixels[key as "width"], key).toBeCloseTo(expected, 9);
});
