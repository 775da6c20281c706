/** The three engines of masks leave the same bytes: logits, masks and label maps. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../../bench/random.ts";
import { createDecoderSync, labelMap, masksOf } from "../../../src/entries/index.ts";
import { masksEngineIn } from "../../../src/engine/masks-engine.ts";
import { halfToFloat } from "../../../src/core/number.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import type { PrototypeRule } from "../../../src/decode/mask.ts";
import { PROTOTYPE_RULES } from "../../../src/tasks/masks/rules.ts";
import {
  PROTOTYPE_TYPES,
  type PrototypeType,
  type Prototypes,
  writeValues,
} from "../../../src/tasks/masks/source.ts";
import { MaskSpace } from "../../../src/tasks/masks/space.ts";
import { engines } from "../../support/engines.ts";

const random = mulberry32(19);
const whole = (most: number): number => Math.floor(random() * most);

/** Returns prototypes of one image as elements, of either layout. Halves have infinities and subnormals too. */
function prototypes(
  type: PrototypeType,
  count: number,
  width: number,
  height: number,
): TensorInput & {
  data: Float32Array | Uint16Array | Uint8Array | Int8Array;
} {
  const n = count * width * height;
  const dims = [1, count, height, width];
  if (type === "f32") return { data: Float32Array.from({ length: n }, () => random() * 6 - 3), dims, type };
  if (type === "f16")
    return { data: Uint16Array.from({ length: n }, () => (whole(2) << 15) | whole(0x4600)), dims, type };
  if (type === "u8")
    return {
      data: Uint8Array.from({ length: n }, () => whole(256)),
      dims,
      type,
      scale: 0.05,
      zeroPoint: 117,
    };
  return {
    data: Int8Array.from({ length: n }, () => whole(256) - 128),
    dims,
    type,
    scale: 0.03,
    zeroPoint: -7,
  };
}

const TYPES = Object.keys(PROTOTYPE_TYPES) as PrototypeType[];
const WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 50];
const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 32];

/** Returns the values of a window that an engine writes, as bits. */
function valuesOf(
  engine: (typeof engines)[number],
  p: Prototypes,
  bytes: Uint8Array,
  coefficients: Float32Array,
  window: { x: { from: number; to: number }; y: { from: number; to: number } },
  sigmoid: boolean,
): Int32Array {
  const space = new MaskSpace(engine, {
    prototypes: bytes.length,
    coefficients: p.count,
    cells: p.width * p.height + 8,
    size: [8, 8],
    map: 0,
  });
  const { logits } = space.at;
  const width = window.x.to - window.x.from;
  const height = window.y.to - window.y.from;
  space.i32.fill(0x5a5a5a5a, logits >> 2, (logits >> 2) + width * height + 8);
  const source = { engine, prototypes: p, place: { bytes }, reportNaN: unexpected } as const;
  writeValues(space, source, coefficients, window, sigmoid, logits, 4 * width);
  return space.i32.slice(logits >> 2, (logits >> 2) + width * height + 8);
}

function unexpected(): never {
  throw new Error("a mask told of NaN");
}

describe.each(TYPES)("%s", (type) => {
  const { bytes: size } = PROTOTYPE_TYPES[type];
  test.each(["planes", "pixels"] as const)("%s: windows around the length of vectors", (layout) => {
    for (const width of WIDTHS)
      for (const count of COUNTS) {
        const [w, h] = [width + 3, 4];
        const tensor = prototypes(type, count, w, h);
        const isPlanes = layout === "planes";
        const p: Prototypes = {
          type,
          count,
          width: w,
          height: h,
          column: isPlanes ? size : size * count,
          row: isPlanes ? size * w : size * count * w,
          plane: isPlanes ? size * w * h : size,
          scale: (tensor.scale ?? 1) as number,
          zeroPoint: (tensor.zeroPoint ?? 0) as number,
        };
        const bytes = new Uint8Array(tensor.data.buffer);
        const coefficients = Float32Array.from({ length: count }, () => random() * 2 - 1);
        const window = { x: { from: 2, to: 2 + width }, y: { from: 1, to: 3 } };
        const sigmoid = count % 2 === 0;
        const [simd, ...others] = engines.map((e) => valuesOf(e, p, bytes, coefficients, window, sigmoid));
        for (const other of others) expect(other, `${width} ${count}`).toEqual(simd);
        // Nothing is written behind the window, and the values are those of doubles.
        expect([...simd.subarray(-8)]).toEqual(Array<number>(8).fill(0x5a5a5a5a));
        const found = new Float32Array(simd.buffer);
        for (const [x, y] of [
          [0, 0],
          [width - 1, 1],
        ]) {
          let logit = 0;
          for (let m = 0; m < count; m++) {
            const at = (m * p.plane + (y + 1) * p.row + (x + 2) * p.column) / size;
            const raw = type === "f16" ? halfToFloat(tensor.data[at]) : tensor.data[at];
            logit += coefficients[m] * (raw - p.zeroPoint) * p.scale;
          }
          const expected = sigmoid ? 1 / (1 + Math.exp(-logit)) : logit;
          expect(found[y * width + x]).toBeCloseTo(expected, 3);
        }
      }
  });
});

test("infinities and NaN in halves are those of the other engines, and set no pixel wrongly", () => {
  const data = Uint16Array.of(0x7c00, 0xfc00, 0x7e00, 0x8000, 0x0001, 0x3c00, 0x83ff, 0x7bff);
  for (const engine of engines) {
    const decoder = createDecoderSync(
      { family: "yolo26", inputSize: [32, 4], task: "segment", coordinates: "pixels" },
      { engine },
    );
    const found = decoder.decode({
      output0: { data: [0, 0, 32, 4, 0.9, 0, 1], dims: [1, 1, 7] },
      output1: { data, dims: [1, 1, 1, 8], type: "f16" },
    });
    const { data: pixels } = found.mask(0, { size: "prototype" });
    expect([...pixels]).toEqual([1, 0, 0, 0, 1, 1, 0, 1]);
  }
});

describe("masks and label maps", () => {
  const frames = [
    undefined,
    { width: 300, height: 170, resize: "letterbox" },
    { width: 90, height: 170, resize: "letterbox" },
    { width: 90, height: 170, resize: "letterbox-topleft" },
    { width: 90, height: 170, resize: "stretch" },
    { width: 90, height: 170, resize: "crop" },
  ] as const;
  test.each(frames.map((frame) => [frame?.resize ?? "no frame", frame] as const))("%s", (_, frame) => {
    for (const type of TYPES) {
      const tensor = prototypes(type, 8, 24, 16);
      const coefficients = Float32Array.from({ length: 8 * 6 }, () => random() * 2 - 1);
      const boxes = Array.from({ length: 6 }).flatMap(() => {
        const [x, y] = [random() * 1.2 - 0.2, random() * 1.2 - 0.2];
        return [x, y, x + random() * 0.9, y + random() * 0.9];
      });
      for (const rule of Object.keys(PROTOTYPE_RULES) as PrototypeRule[])
        for (const size of ["prototype", "network", "frame", [37, 53]] as const) {
          const picture = typeof size === "string" ? (size === "frame" ? "image" : size) : "image";
          if (!PROTOTYPE_RULES[rule].pictures.includes(picture) || (size === "frame" && !frame)) continue;
          const inputs = {
            prototypes: tensor,
            coefficients,
            boxes,
            inputSize: [96, 64] as const,
            ...(frame && { frame }),
          };
          const [simd, ...others] = engines.map((engine) =>
            masksOf(inputs, { engine, rule, size, threshold: 0.6 }),
          );
          for (const other of others) expect(other).toEqual(simd);
          for (const { x, y, width, height, data, size: pictureSize } of simd) {
            expect(data.length).toBe(width * height);
            expect(x >= 0 && y >= 0 && x + width <= pictureSize[0] && y + height <= pictureSize[1]).toBe(
              true,
            );
          }
        }
    }
  });
});

describe("in the memory of a decoder", () => {
  /** Rows of boxes with 8 coefficients, and prototypes. */
  const rows = Array.from({ length: 12 }, (_, i) => [
    0.1 * (i % 4),
    0.15 * Math.floor(i / 4),
    0.1 * (i % 4) + 0.5,
    0.15 * Math.floor(i / 4) + 0.6,
    0.9 - 0.05 * i,
    0,
    ...Array.from({ length: 8 }, () => random() * 2 - 1),
  ]);
  const protos = prototypes("f32", 8, 40, 24);
  const outputs = {
    output0: { data: Float32Array.from(rows.flat()), dims: [1, 12, 14] },
    output1: { data: protos.data, dims: protos.dims },
  };
  const options = { family: "yolo26", classes: 1, inputSize: [160, 96], coordinates: "normalised" } as const;

  test("decoders of all engines give the same maps, first or last", () => {
    for (const overlap of ["first", "last"] as const) {
      const maps = engines.map((engine) => {
        const found = createDecoderSync({ ...options, task: "segment" }, { engine }).decode(outputs);
        expect(found.length).toBeGreaterThan(8);
        const map = labelMap(found, { overlap });
        // The map is what the masks say.
        const painted = new Int16Array(map.data.length).fill(-1);
        for (let i = 0; i < found.length; i++) {
          const row = overlap === "first" ? found.length - 1 - i : i;
          const { x, y, width, height, data } = found.mask(row);
          for (let k = 0; k < width * height; k++)
            if (data[k]) painted[(y + Math.floor(k / width)) * map.width + x + (k % width)] = row;
        }
        expect(map.data).toEqual(painted);
        return map;
      });
      for (const map of maps) expect(map).toEqual(maps[0]);
      expect([maps[0].width, maps[0].height]).toEqual([160, 96]);
    }
  });

  test("strips of rows, where the free part of memory is small, give what one piece gives", () => {
    const buffer = new ArrayBuffer(1 << 16);
    const bytes = new Uint8Array(protos.data.buffer);
    new Uint8Array(buffer).set(bytes, 16384);
    const views = { i32: new Int32Array(buffer), f32: new Float32Array(buffer) };
    const engine = masksEngineIn({ name: "ts", memory: { buffer } } as Parameters<typeof masksEngineIn>[0]);
    const p: Prototypes = {
      type: "f32",
      count: 8,
      width: 40,
      height: 24,
      column: 4,
      row: 160,
      plane: 160 * 24,
      scale: 1,
      zeroPoint: 0,
    };
    const space = new MaskSpace("ts", {
      prototypes: bytes.length,
      coefficients: 8,
      cells: 960,
      size: [8, 8],
      map: 0,
    });
    const window = { x: { from: 1, to: 38 }, y: { from: 2, to: 23 } };
    const coefficients = Float32Array.from({ length: 8 }, () => random() - 0.5);
    const valuesIn = (place: Parameters<typeof writeValues>[1]["place"], row: number): Int32Array => {
      const { logits } = space.at;
      const source = { engine: "ts", prototypes: p, place, reportNaN: unexpected } as const;
      writeValues(space, source, coefficients, window, false, logits, row);
      return space.i32.slice(logits >> 2, (logits >> 2) + (row >> 2) * 21 - (row >> 2) + 37);
    };
    for (const row of [4 * 37, 4 * 40]) {
      const expected = valuesIn({ bytes }, row);
      for (const rows of [1, 2, 5, 20, 21, 30])
        expect(
          valuesIn({ engine, ...views, at: 16384, free: 64, freeEnd: 64 + 176 + rows * 148 }, row),
        ).toEqual(expected);
    }
  });
});
