/** Tensors for the cases: seeded, recorded, converted to other element types. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const fixtures = new URL("../../../test/fixtures/", import.meta.url);

/** Returns a generator of pseudo-random values in 0..1, the same on every machine. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns a tensor of floats. `valueAt` maps an index to a value. */
export const f32 = (dims, valueAt) => ({
  dims,
  type: "f32",
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => valueAt(i)),
});

/** Returns the bits of the half float nearest to x. */
function half(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (Number.isNaN(x)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude || 1e-30)));
  const steps = Math.round(magnitude / 2 ** (exponent - 10));
  return sign | (exponent === -14 ? steps : ((exponent + 14) << 10) + steps);
}

export const toHalf = (t) => ({ dims: t.dims, type: "f16", data: Uint16Array.from(t.data, half) });

/** Returns the tensor quantised to its own range of values. */
export function quantised(t, type) {
  const [array, low, high] = {
    u8: [Uint8Array, 0, 255],
    i8: [Int8Array, -128, 127],
    i16: [Int16Array, -32768, 32767],
  }[type];
  const [least, most] = t.data.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const scale = (most - least) / (high - low);
  const zeroPoint = Math.round(low - least / scale);
  const data = array.from(t.data, (x) => Math.min(high, Math.max(low, Math.round(x / scale) + zeroPoint)));
  return { dims: t.dims, type, data, scale, zeroPoint };
}

export const readJson = (path) => JSON.parse(readFileSync(new URL(path, fixtures), "utf8"));

/** Returns the recorded outputs of a network for one photo. */
export function recorded(folder) {
  return Object.fromEntries(
    readJson(`${folder}/meta.json`).outputs.map(({ name, file, shape }) => {
      const bytes = gunzipSync(readFileSync(new URL(`${folder}/${file}.gz`, fixtures)));
      return [name, { dims: shape, type: "f32", data: new Float32Array(Uint8Array.from(bytes).buffer) }];
    }),
  );
}

/** Returns a golden detection with the upright box around its corners, if it has corners. */
function uprightOf(g) {
  if (!g.corners) return g;
  const [xs, ys] = [0, 1].map((k) => g.corners.map((corner) => corner[k]));
  return {
    ...g,
    x_min: Math.min(...xs),
    y_min: Math.min(...ys),
    x_max: Math.max(...xs),
    y_max: Math.max(...ys),
  };
}

/** Returns a golden case beyond boxes: its facts, the tensors whose names fit, and detections in 0..1. */
export function beyond(name, wanted) {
  const read = (file) => gunzipSync(readFileSync(new URL(`beyond/heads/${name}/${file}.gz`, fixtures)));
  const { input, classes, keypoints, outputs, detections } = JSON.parse(read("fixture.json"));
  const { width, height } = input;
  const golden = detections.map(uprightOf).map(({ masks, ...g }) => ({
    ...g,
    x_min: g.x_min / width,
    y_min: g.y_min / height,
    x_max: g.x_max / width,
    y_max: g.y_max / height,
    turned: g.corners && [g.cx, g.cy, g.w, g.h, g.angle],
    keypoints: g.keypoints?.map(([x, y, ...rest]) => [x / width, y / height, ...rest]),
    mask: masks?.proto,
  }));
  const tensors = Object.fromEntries(
    outputs
      .filter((output) => wanted.test(output.name))
      .map(({ name: output, file, shape }) => [
        output,
        { dims: shape, type: "f32", data: new Float32Array(Uint8Array.from(read(file)).buffer) },
      ]),
  );
  return { size: [width, height], classes, keypoints, golden, tensors };
}

/** Returns the golden set of `n` oriented boxes as a list of detections, and a function that maps rows to detections. */
export function rotated(n, [width, height]) {
  const file = gunzipSync(readFileSync(new URL("beyond/rotated.json.gz", fixtures)));
  const { xywhr, scores, classes, answers, outside } = JSON.parse(file).nms.find((set) => set.n === n);
  const rows = xywhr.map(([x, y, w, h, angle], i) => [x, y, w, h, scores[i], classes[i], angle]);
  const detectionOf = (i) => {
    const [cx, cy, w, h, angle] = xywhr[i];
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)].map(Math.abs);
    const [across, down] = [(w * cos + h * sin) / 2, (w * sin + h * cos) / 2];
    const half = ((angle % Math.PI) + Math.PI) % Math.PI;
    return {
      ...{ class_id: classes[i], confidence: scores[i] },
      ...{ x_min: (cx - across) / width, y_min: (cy - down) / height },
      ...{ x_max: (cx + across) / width, y_max: (cy + down) / height },
      turned: half < Math.PI / 2 ? [cx, cy, w, h, half] : [cx, cy, h, w, half - Math.PI / 2],
    };
  };
  return {
    outputs: { output0: f32([1, n, 7], (i) => rows[Math.floor(i / 7)][i % 7]) },
    goldenOf: (answer) => (answers[answer] ?? outside[answer]).map(detectionOf),
  };
}

/** Returns the tensors whose names fit. */
export const chosen = (tensors, names) =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => names.test(name)));

/** Returns [1, 4 + classes, cells]: boxes that often overlap, scores that sometimes pass. */
export function planes(cells, classes, seed) {
  const random = seeded(seed);
  return f32([1, 4 + classes, cells], (i) => {
    const channel = Math.floor(i / cells);
    return channel < 2 ? random() * 64 : channel < 4 ? 4 + random() * 64 * 0.4 : random() ** 2;
  });
}

/** Returns boxes as floats and scores quantised: exporters split them, since they share no scale. */
export function splitPlanes(t, type) {
  const [, channels, cells] = t.dims;
  return {
    boxes: f32([1, 4, cells], (i) => t.data[i]),
    scores: quantised(
      f32([1, channels - 4, cells], (i) => t.data[4 * cells + i]),
      type,
    ),
  };
}

/** Returns planes as real networks give them: mostly background, and a few cells with one high score. */
export function sparsePlanes([one, channels, cells], objects, seed) {
  const random = seeded(seed);
  const t = f32([one, channels, cells], (i) =>
    i < 2 * cells ? random() * 640 : i < 4 * cells ? 10 + random() * 150 : random() * 0.01,
  );
  for (let k = 0; k < objects; k++) {
    const channel = 4 + Math.floor(random() * (channels - 4));
    t.data[channel * cells + Math.floor(random() * cells)] = 0.3 + random() * 0.6;
  }
  return t;
}
