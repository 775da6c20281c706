/**
 * Writes the test cases of the C library into build/, after `npm run build` in the folder above:
 *
 *     cases.bin          the cases, see cases.h
 *     cases-spoilt.bin   the same with one wrong bit in an expected score
 *     large.bin          networks of common size, for counting instructions
 *     speed-*.bin        one network each, for tools/speed.mjs
 *     face-tensor.bin    the tensor of the face example
 *     fomo-tensor.bin    the tensor of the FOMO example
 *
 * A case holds a plan from `boxwright compile`, tensors, and the detections of the JavaScript engines, which C must
 * reproduce bit for bit. The three engines must agree. Recorded cases also hold detections computed elsewhere in double
 * precision: JavaScript must meet them within 1e-5 here, and C does there. Golden keypoints, masks and oriented boxes
 * are compared here.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createDecoderSync, toPixels } from "boxwright";
import { cases, fomoTensor, largeCases, speedCases } from "./cases/networks.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const build = join(here, "build");
const RESIZES = ["stretch", "letterbox", "letterbox-topleft", "crop"];
const run = promisify(execFile);

const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);

/** Returns a mask at the size of the prototypes: its window, and its bytes. */
function maskOf(found, i) {
  const { x, y, width, height, data } = found.mask(i, { size: "prototype" });
  return { window: Int32Array.of(x, y, width, height), data };
}

/** Returns an oriented box in pixels of the frame: the floats at the beginning of a `bxw_oriented_box`. */
function turnedOf(d, [width, height]) {
  const p = toPixels(d, width, height);
  return [p.cx, p.cy, p.width, p.height, d.angle, ...d.corners.flatMap(({ x, y }) => [x, y])];
}

/** Returns columns and statistics of one engine. */
function decodeWith(engine, { config, options, outputs, frame }) {
  const decoder = createDecoderSync(config, { ...options, engine });
  const images = decoder.decodeBatch(outputs, frame).map((d) => ({
    boxes: d.boxes.slice(0, d.length * 4),
    scores: d.scores.slice(0, d.length),
    classIds: d.classIds.slice(0, d.length),
    sources: d.sources.slice(0, d.length),
    keypoints: d.copy().keypoints ?? new Float32Array(0),
    turned: Float32Array.from(
      config.task === "oriented"
        ? [...d].flatMap((one) => turnedOf(one, frame ? [frame.width, frame.height] : config.inputSize))
        : [],
    ),
    masks: config.task === "segment" ? Array.from({ length: d.length }, (_, i) => maskOf(d, i)) : [],
  }));
  const { candidates, dropped } = decoder.stats;
  return { images, stats: [candidates, dropped.capped, dropped.notFinite] };
}

/** Returns the count of keypoints of an object. It comes from the results: an archive or a family may state it. */
function pointsOf({ images }) {
  const image = images.find(({ scores }) => scores.length > 0);
  return image === undefined ? 0 : image.keypoints.length / (image.scores.length * 3);
}

/** Returns the detections on which the three engines agree. */
function expectedOf(c) {
  const [first, ...others] = ["simd", "scalar", "ts"].map((engine) => decodeWith(engine, c));
  const bits = ({ stats, images }) =>
    JSON.stringify([
      stats,
      images.map(({ masks, ...columns }) =>
        [...Object.values(columns), ...masks.flatMap(Object.values)].map((column) =>
          bytesOf(column).toString("hex"),
        ),
      ),
    ]);
  if (others.some((other) => bits(other) !== bits(first)))
    throw new Error(`${c.name}: the engines gave different detections. Run npm test.`);
  const count = first.images.reduce((sum, d) => sum + d.scores.length, 0);
  if (count === 0 && c.golden === undefined)
    throw new Error(
      `${c.name}: no engine gave a detection, so the case would prove little. Expected at least one.`,
    );
  return { ...first, count };
}

/** Throws unless each recorded detection has one within 1e-5 among those found. */
function checkGolden({ name, golden }, { images: [found] }) {
  if (found.scores.length !== golden.length)
    throw new Error(`${name}: found ${found.scores.length} detections, expected ${golden.length}.`);
  for (const g of golden) {
    const wanted = [g.confidence, g.x_min, g.y_min, g.x_max, g.y_max];
    const isNear = [...found.scores.keys()].some(
      (i) =>
        found.classIds[i] === g.class_id &&
        [found.scores[i], ...found.boxes.subarray(4 * i, 4 * i + 4)].every(
          (x, k) => Math.abs(x - wanted[k]) <= 1e-5,
        ),
    );
    if (!isNear) throw new Error(`${name}: no detection within 1e-5 of ${JSON.stringify(g)}.`);
  }
  golden.forEach((g, i) => checkExtras(name, g, found, i));
}

/** Throws unless keypoints are within 1e-5 of golden ones, and a mask has the golden pixels. Rows stand in order. */
function checkExtras(name, { keypoints = [], mask, turned = [] }, found, i) {
  // Places in pixels and the angle, as far as f32 corners hold them.
  if (turned.some((x, k) => !(Math.abs(found.turned[i * 13 + k] - x) <= (k < 4 ? 1e-4 : 2e-6))))
    throw new Error(`${name}: the oriented box of row ${i} is another one.`);
  const points = keypoints.flatMap(([x, y, confidence = 1]) => [x, y, confidence]);
  const row = found.keypoints.subarray(i * points.length, (i + 1) * points.length);
  if (points.some((x, k) => !(Math.abs(row[k] - x) <= 1e-5)))
    throw new Error(`${name}: keypoints of row ${i} are not within 1e-5.`);
  if (mask === undefined) return;
  const [height, width] = mask.size;
  const wanted = new Uint8Array(width * height);
  let at = 0;
  mask.rle.forEach((length, k) => wanted.fill(k % 2, at, (at += length)));
  const { window, data } = found.masks[i];
  const [x, y, w] = window;
  const got = new Uint8Array(width * height);
  data.forEach((on, k) => (got[(y + Math.floor(k / w)) * width + x + (k % w)] = on));
  if (!bytesOf(got).equals(bytesOf(wanted)))
    throw new Error(`${name}: the mask of row ${i} has other pixels.`);
}

/** Compiles the plan with the command. Every fourth case takes the plan file, the others C source with less memory. */
async function compile(c, index, folder) {
  const config = join(folder, `${index}.json`);
  const plan = join(folder, `${index}.plan`);
  const isSource = index % 4 !== 0;
  writeFileSync(config, JSON.stringify(c.config));
  const shapes = Object.entries(c.outputs).map(
    ([name, t]) =>
      `${name}:${t.dims.join("x")}:${t.type}${t.scale === undefined ? "" : `:${t.scale},${t.zeroPoint}`}`,
  );
  const flags = [
    "--outputs",
    shapes.join(","),
    "--out",
    plan,
    ...(isSource ? ["--c", "plan"] : []),
    ...(c.flags ?? []),
  ];
  await run(process.execPath, ["../dist/cli.mjs", "compile", config, ...flags], { cwd: here });
  if (!isSource) return readFileSync(plan);
  const words = readFileSync(plan, "utf8").match(/0x[0-9a-f]{8}(?=u)/g);
  return Buffer.from(Uint32Array.from(words, Number).buffer);
}

/** Compiles four plans at a time. */
async function compileAll(list) {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-"));
  const plans = [];
  const waiting = [...list.keys()];
  const work = async () => {
    for (let i = waiting.shift(); i !== undefined; i = waiting.shift())
      plans[i] = await compile(list[i], i, folder);
  };
  try {
    await Promise.all(Array.from({ length: 4 }, work));
    return plans;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Collects words and blobs, each 16-aligned. Methods return the offset at which they put their argument. */
class CaseFile {
  chunks = [];
  length = 0;
  blob(data) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const at = this.length;
    this.chunks.push(bytes, Buffer.alloc(-bytes.length & 15));
    this.length += (bytes.length + 15) & ~15;
    return at;
  }
  text = (string) => this.blob(Buffer.from(`${string}\0`));
  words = (list) => this.blob(Int32Array.from(list, (n) => n | 0));
}

/** Writes one case in the order of the C_* words in cases.h. Returns the offset of the case. */
function writeCase(file, c, plan, expected) {
  const tensors = Object.entries(c.outputs).map(([name, t]) => [
    file.text(name),
    file.blob(t.data),
    t.data.byteLength,
  ]);
  const images = expected.images.map((d) => [
    d.scores.length,
    file.blob(d.boxes),
    file.blob(d.scores),
    file.blob(d.classIds),
    file.blob(d.sources),
    file.blob(d.keypoints),
    file.words(d.masks.flatMap(({ window, data }) => [...window, file.blob(data)])),
    file.blob(d.turned),
  ]);
  const golden = (c.golden ?? []).map((g) => {
    const row = Buffer.alloc(24);
    row.writeInt32LE(g.class_id, 0);
    [g.confidence, g.x_min, g.y_min, g.x_max, g.y_max].forEach((x, k) => row.writeFloatLE(x, 4 + 4 * k));
    return row;
  });
  return file.words([
    file.text(c.name),
    file.blob(plan),
    plan.length,
    tensors.length,
    file.words(tensors.flat()),
    c.frame?.width ?? 0,
    c.frame?.height ?? 0,
    RESIZES.indexOf(c.frame?.resize ?? "stretch"),
    images.length,
    file.words(images.flat()),
    ...expected.stats,
    c.golden === undefined ? -1 : golden.length,
    file.blob(Buffer.concat(golden)),
    pointsOf(expected),
    c.config.task === "segment" ? 1 : 0,
    c.config.task === "oriented" ? 1 : 0,
    c.config.task === "peaks" ? 1 : 0,
  ]);
}

/** Returns the bytes of a file with all cases. */
async function fileOf(list) {
  const plans = await compileAll(list);
  const file = new CaseFile();
  const head = Buffer.alloc(16);
  file.blob(head);
  let count = 0;
  const table = list.map((c, i) => {
    const expected = expectedOf(c);
    if (c.golden !== undefined) checkGolden(c, expected);
    count += expected.count;
    return writeCase(file, c, plans[i], expected);
  });
  head.writeUInt32LE(list.length, 0);
  head.writeUInt32LE(file.words(table), 4);
  console.log(`${list.length} cases, ${count} detections, ${file.length} bytes`);
  return Buffer.concat(file.chunks);
}

/** Returns a copy with the lowest bit of the first score of the first case inverted. */
function spoilt(bytes) {
  const copy = Buffer.from(bytes);
  const word = (at, index) => copy.readUInt32LE(at + 4 * index);
  const [C_IMAGE_TABLE, D_SCORES] = [9, 2];
  const firstCase = word(word(0, 1), 0);
  copy[word(word(firstCase, C_IMAGE_TABLE), D_SCORES)] ^= 1;
  return copy;
}

mkdirSync(build, { recursive: true });
const bytes = await fileOf(cases);
writeFileSync(join(build, "cases.bin"), bytes);
writeFileSync(join(build, "cases-spoilt.bin"), spoilt(bytes));
writeFileSync(join(build, "large.bin"), await fileOf(largeCases()));
for (const [name, c] of Object.entries(speedCases()))
  writeFileSync(join(build, `speed-${name}.bin`), await fileOf([c]));
writeFileSync(join(build, "face-tensor.bin"), cases[0].outputs.out0.data);
writeFileSync(join(build, "fomo-tensor.bin"), fomoTensor().data);
