/**
 * Makes build/cases.bin: the conformance cases that every build of the C library has to answer.
 *
 *     node test/make-cases.mjs            (after `npm run build` in the folder above)
 *     node test/make-cases.mjs --large    build/large.bin instead: networks of common size, for counting instructions
 *
 * A case is a plan as `boxwright compile` writes it, tensors, and what the JavaScript engines answer: boxes, scores,
 * labels and sources, bit for bit. The three engines are asked and must agree here already. Recorded cases carry what
 * the recording expects, too, from formulas computed elsewhere in doubles; JavaScript has to meet it within 1e-5 here
 * and C does there.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { createDecoderSync } from "../../dist/index.mjs";

const here = new URL("..", import.meta.url);
const read = (path) => {
  const plain = new URL(path, here);
  try {
    return readFileSync(plain);
  } catch {
    return gunzipSync(readFileSync(new URL(`${path}.gz`, here)));
  }
};
const json = (path) => JSON.parse(read(path).toString());
const build = new URL("build/", here);
mkdirSync(build, { recursive: true });

// ---- Tensors -----------------------------------------------------------------------------------------------
/** Numbers that look like chance and are the same everywhere. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const volume = (dims) => dims.reduce((a, b) => a * b, 1);
const f32 = (dims, fill) => ({
  dims,
  type: "f32",
  data: Float32Array.from({ length: volume(dims) }, (_, i) => fill(i)),
});

/** The bits of the half float nearest to x. */
function half(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const a = Math.abs(x);
  if (Number.isNaN(x)) return 0x7e00;
  if (a >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(a || 1e-30)));
  const step = 2 ** (exponent - 10);
  const n = Math.round(a / step);
  return sign | (exponent === -14 ? n : ((exponent + 14) << 10) + n);
}
const toHalf = (t) => ({ dims: t.dims, type: "f16", data: Uint16Array.from(t.data, half) });

function quantised(t, type) {
  const [array, low, high] = {
    u8: [Uint8Array, 0, 255],
    i8: [Int8Array, -128, 127],
    i16: [Int16Array, -32768, 32767],
  }[type];
  const least = Math.min(...t.data);
  const scale = (Math.max(...t.data) - least) / (high - low);
  const zeroPoint = Math.round(low - least / scale);
  const data = array.from(t.data, (x) => Math.min(high, Math.max(low, Math.round(x / scale) + zeroPoint)));
  return { dims: t.dims, type, data, scale, zeroPoint };
}

function recorded(folder) {
  return Object.fromEntries(
    json(`${folder}/meta.json`).outputs.map(({ name, file, shape }) => {
      const bytes = read(`${folder}/${file}`);
      return [name, { dims: shape, type: "f32", data: new Float32Array(Uint8Array.from(bytes).buffer) }];
    }),
  );
}

// ---- Cases ---------------------------------------------------------------------------------------------------
const fixtures = "../test/fixtures";
const photos = ["astronaut", "chelsea", "coffee"];
const face = { config: json("test/tiny-face/config.json"), outputs: recorded("test/tiny-face") };
const cases = [
  { name: "tiny-face", ...face, golden: json("test/tiny-face/expected.json").detections },
  { name: "tiny-face u8", ...face, outputs: { out0: quantised(face.outputs.out0, "u8") } },
  {
    name: "tiny-face f16, letterbox",
    ...face,
    outputs: { out0: toHalf(face.outputs.out0) },
    frame: { width: 640, height: 480, resize: "letterbox" },
  },
];
for (const photo of photos) {
  cases.push({
    name: `yolo-fastest ${photo}`,
    config: json(`${fixtures}/yolo-fastest-1.1/config.json`),
    flags: ["--activation", "logits", "--conventions", "opencv"],
    options: { activation: "logits", conventions: "opencv" },
    outputs: recorded(`${fixtures}/yolo-fastest-1.1/${photo}`),
    golden: json(`${fixtures}/yolo-fastest-1.1/${photo}/expected.json`).detections,
  });
  cases.push({
    name: `mobilenet-ssd ${photo}`,
    config: json(`${fixtures}/mobilenet-ssd/config.json`),
    outputs: recorded(`${fixtures}/mobilenet-ssd/${photo}`),
    golden: json(`${fixtures}/mobilenet-ssd/${photo}/expected.json`).detections,
  });
}

/** Boxes that overlap by chance and scores that pass now and then: [4 + classes] channels of `n` cells. */
function planes(n, classes, seed, size = 64) {
  const random = generator(seed);
  return f32([1, 4 + classes, n], (i) => {
    const channel = Math.floor(i / n);
    return channel < 2 ? random() * size : channel < 4 ? 4 + random() * size * 0.4 : random() ** 2;
  });
}
const v8 = { family: "yolov8", classes: 3, inputSize: [64, 48], confidenceThreshold: 0.4 };
const odd = planes(83, 3, 5);
// what a network should never give
odd.data[83 * 4 + 7] = NaN;
odd.data[83 * 5 + 9] = 0.99;
odd.data[9] = Infinity;
odd.data[83 * 6 + 11] = 0.98;
odd.data[83 * 2 + 11] = NaN;
const halves = planes(83, 3, 4);
// among the first 64 bytes of a plane and behind them: no number, and the largest twice
halves.data[83 * 4 + 5] = halves.data[83 * 5 + 80] = NaN;
halves.data[83 * 4 + 6] = halves.data[83 * 6 + 6] = 0.9;
halves.data[83 * 5 + 81] = halves.data[83 * 6 + 81] = 0.8;
/** Boxes in f32, scores quantised: what exporters make of planes, since boxes and scores have no scale in common. */
function split(t, type) {
  const n = t.dims[2];
  const classes = t.dims[1] - 4;
  return {
    boxes: f32([1, 4, n], (i) => t.data[i]),
    scores: quantised(
      f32([1, classes, n], (i) => t.data[4 * n + i]),
      type,
    ),
  };
}
const maps = generator(11);
const dfl = {
  boxes: f32([1, 64, 4, 6], () => maps() * 6 - 3),
  scores: f32([1, 2, 4, 6], () => maps() * 6 - 4),
};
const chance = generator(23);
const rows = f32([2, 60, 7], (i) => (i % 7 < 2 ? chance() * 64 : i % 7 < 4 ? 3 + chance() * 30 : chance()));
const prior = generator(31);
const priors = Array.from({ length: 4 * 40 }, (_, i) => (i % 4 < 2 ? prior() : 0.05 + prior() * 0.3));
const ssd = { boxes: f32([1, 40, 4], () => prior() * 2 - 1), scores: f32([1, 40, 4], () => prior() * 0.9) };
const list = generator(41);
const finished = {
  boxes: f32([1, 10, 4], (i) => (i % 4 < 2 ? list() * 0.5 : 0.5 + list() * 0.5)),
  classes: f32([1, 10], () => Math.floor(list() * 5)),
  scores: f32([1, 10], (i) => 0.95 - i * 0.07),
  count: f32([1], () => 8),
};
const fast = generator(53);
const fastest = f32([1, 8, 5, 5], (i) => (i < 25 ? fast() : i < 75 ? fast() * 2 - 1 : fast()));
const query = generator(61);
const queries = {
  logits: f32([1, 12, 5], () => query() * 8 - 3),
  boxes: f32([1, 12, 4], (i) => (i % 4 < 2 ? query() : query() * 0.4)),
};
cases.push(
  { name: "planes", config: v8, outputs: { output0: planes(83, 3, 3) } },
  { name: "planes f16", config: v8, outputs: { output0: toHalf(halves) } },
  { name: "planes u8", config: v8, outputs: split(planes(150, 3, 12), "u8") },
  { name: "planes i8", config: v8, outputs: split(planes(150, 3, 13), "i8") },
  { name: "planes with NaN and infinity", config: v8, outputs: { output0: odd } },
  {
    name: "planes, pairs and caps",
    config: { ...v8, conventions: "gen1", confidenceThreshold: 0.1, maxDetections: 17 },
    outputs: { output0: planes(83, 3, 6) },
  },
  {
    name: "planes, some classes",
    config: { ...v8, labels: ["a", "b", "\u00e9"], keep: ["a", 2], conventions: "depthai-nodes" },
    outputs: { output0: planes(83, 3, 7) },
  },
  {
    name: "planes, a threshold per class",
    config: { ...v8, confidenceThreshold: [0.2, 0.9, 0.5], conventions: "depthai" },
    outputs: { output0: planes(83, 3, 8) },
  },
  {
    name: "planes, thousands, letterbox",
    config: { ...v8, classes: 1, confidenceThreshold: 0.001, maxDetections: 200 },
    outputs: { output0: planes(3600, 1, 9) },
    frame: { width: 1000, height: 333, resize: "letterbox-topleft" },
  },
  {
    name: "DFL maps",
    config: { ...v8, classes: 2, inputSize: [48, 32], confidenceThreshold: 0.3, reading: "dfl-grid" },
    outputs: dfl,
  },
  {
    name: "DFL maps i8 and i16",
    config: { ...v8, classes: 2, inputSize: [48, 32], confidenceThreshold: 0.3, reading: "dfl-grid" },
    outputs: { boxes: quantised(dfl.boxes, "i8"), scores: quantised(dfl.scores, "i16") },
  },
  {
    name: "rows, a batch of two",
    config: { family: "yolov5", classes: 2, inputSize: [64, 64] },
    outputs: { output0: rows },
    frame: { width: 333, height: 500, resize: "letterbox" },
  },
  {
    name: "priors",
    config: {
      family: "ssd",
      classes: 4,
      priors,
      priorFormat: "cxcywh",
      variances: [0.1, 0.1, 0.2, 0.2],
      activation: "sigmoid",
      inputSize: [300, 300],
    },
    outputs: ssd,
  },
  {
    name: "TFLite post-process",
    config: {
      family: "tflite-postprocess",
      classes: 5,
      roles: { boxes: "boxes", labels: "classes", scores: "scores", count: "count" },
    },
    outputs: finished,
  },
  {
    name: "FastestDet",
    config: { family: "fastestdet", classes: 3, inputSize: [80, 80], confidenceThreshold: 0.5 },
    outputs: { output: fastest },
  },
  {
    name: "queries, softmax",
    config: { family: "detr", classes: 4, confidenceThreshold: 0.4 },
    outputs: queries,
  },
);

/** Mostly background, as real outputs are: a few cells with one class that stands out. */
function sparse(dims, objects, seed) {
  const random = generator(seed);
  const [, channels, n] = dims;
  const t = f32(dims, (i) =>
    i < 2 * n ? random() * 640 : i < 4 * n ? 10 + random() * 150 : random() * 0.01,
  );
  for (let k = 0; k < objects; k++)
    t.data[(4 + Math.floor(random() * (channels - 4))) * n + Math.floor(random() * n)] = 0.3 + random() * 0.6;
  return t;
}
const large = process.argv.includes("--large");
if (large) {
  const wide = sparse([1, 84, 8400], 200, 71);
  const config = { family: "yolov8", classes: 80, inputSize: [640, 640] };
  cases.length = 0;
  cases.push(
    { name: "YOLOv8 [1,84,8400] f32", config, outputs: { output0: wide } },
    // scores and boxes in one scale would leave nothing of the scores, so exporters split them; f16 keeps them together
    { name: "YOLOv8 [1,84,8400] f16", config, outputs: { output0: toHalf(wide) } },
  );
}

// ---- What JavaScript answers -----------------------------------------------------------------------------------
const fail = (name, got, expected) => {
  throw new Error(`${name}: got ${got}, expected ${expected}`);
};

function answers(c) {
  const all = ["simd", "scalar", "ts"].map((engine) => {
    const decoder = createDecoderSync(c.config, { ...c.options, engine });
    const result = decoder.decode(c.outputs, c.frame);
    const images = (Array.isArray(result) ? result : [result]).map((d) => ({
      boxes: d.boxes.slice(0, d.length * 4),
      scores: d.scores.slice(0, d.length),
      labels: d.classIds.slice(0, d.length),
      sources: d.sources.slice(0, d.length),
    }));
    const { candidates, dropped } = decoder.stats;
    return { images, stats: [candidates, dropped.capped, dropped.notFinite] };
  });
  const bits = (a) =>
    JSON.stringify([
      a.stats,
      a.images.map((i) => Object.values(i).map((col) => Buffer.from(col.buffer).toString("hex"))),
    ]);
  for (const a of all)
    if (bits(a) !== bits(all[0])) fail(c.name, "other detections from one engine", "the same from all");
  return all[0];
}

function checkGolden(c, { images: [d] }) {
  if (d.scores.length !== c.golden.length) fail(c.name, `${d.scores.length} detections`, c.golden.length);
  for (const g of c.golden) {
    const want = [g.confidence, g.x_min, g.y_min, g.x_max, g.y_max];
    const near = [...d.scores.keys()].some(
      (i) =>
        d.labels[i] === g.class_id &&
        [d.scores[i], ...d.boxes.subarray(4 * i, 4 * i + 4)].every((x, k) => Math.abs(x - want[k]) <= 1e-5),
    );
    if (!near) fail(c.name, "no detection within 1e-5", JSON.stringify(g));
  }
}

function planOf(c, index) {
  const config = new URL(`case-${index}.json`, build);
  const plan = new URL(`case-${index}.plan`, build);
  writeFileSync(config, JSON.stringify(c.config));
  const shapes = Object.entries(c.outputs).map(
    ([name, t]) =>
      `${name}:${t.dims.join("x")}:${t.type}${t.scale === undefined ? "" : `:${t.scale},${t.zeroPoint}`}`,
  );
  // the command itself, so that it is what is tested; in turns as a file, which JavaScript engines could load too, and as C source,
  // whose memory is smaller
  const source = index % 4 !== 0;
  execFileSync(
    process.execPath,
    [
      "../dist/cli.mjs",
      "compile",
      config.pathname,
      "--outputs",
      shapes.join(","),
      "--out",
      plan.pathname,
      ...(source ? ["--c", "plan"] : []),
      ...(c.flags ?? []),
    ],
    {
      cwd: here,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const bytes = source
    ? Buffer.from(Uint32Array.from(readFileSync(plan, "utf8").match(/0x[0-9a-f]{8}(?=u)/g), Number).buffer)
    : readFileSync(plan);
  rmSync(config);
  rmSync(plan);
  return bytes;
}

// ---- The file: words and blobs, 16-aligned; test/conformance.c reads it -----------------------------------------
const chunks = [];
let length = 0;
function blob(bytes) {
  const view = ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : bytes;
  const at = length;
  chunks.push(view, Buffer.alloc(-view.length & 15));
  length += (view.length + 15) & ~15;
  return at;
}
const text = (s) => blob(Buffer.from(`${s}\0`));
const words = (list) => blob(Int32Array.from(list, (n) => n | 0));
const head = Buffer.alloc(16);
blob(head);
const kinds = ["stretch", "letterbox", "letterbox-topleft"];
let found = 0;
const table = cases.map((c, index) => {
  const plan = planOf(c, index);
  const answer = answers(c);
  if (c.golden !== undefined) checkGolden(c, answer);
  const images = answer.images
    .map((d) => [d.scores.length, blob(d.boxes), blob(d.scores), blob(d.labels), blob(d.sources)])
    .flat();
  const count = answer.images.reduce((n, d) => n + d.scores.length, 0);
  // a case without detections would prove little; the recorded ones say themselves how many there are
  if (count === 0 && c.golden === undefined) fail(c.name, "no detections", "some");
  found += count;
  const tensors = Object.entries(c.outputs).map(([name, t]) => [text(name), blob(t.data), t.data.byteLength]);
  const golden = (c.golden ?? []).map((g) => {
    const row = Buffer.alloc(24);
    row.writeInt32LE(g.class_id, 0);
    [g.confidence, g.x_min, g.y_min, g.x_max, g.y_max].forEach((x, k) => row.writeFloatLE(x, 4 + 4 * k));
    return row;
  });
  return words([
    text(c.name),
    blob(plan),
    plan.length,
    tensors.length,
    words(tensors.flat()),
    c.frame?.width ?? 0,
    c.frame?.height ?? 0,
    kinds.indexOf(c.frame?.resize ?? "stretch"),
    answer.images.length,
    words(images),
    ...answer.stats,
    c.golden === undefined ? -1 : golden.length,
    blob(Buffer.concat(golden)),
  ]);
});
head.writeUInt32LE(cases.length, 0);
head.writeUInt32LE(words(table), 4);
writeFileSync(new URL(large ? "large.bin" : "cases.bin", build), Buffer.concat(chunks));
console.log(`${cases.length} cases, ${found} detections, ${length} bytes`);
