/** Writes the playground's examples from the fixtures: a photo, a file of tensors, and the user's settings. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createDecoder, drawSvg } from "../../dist/index.mjs";
import { readTensors, writeSafetensors } from "../../dist/node.mjs";
import { pages, root } from "./pages.mjs";

const fixtures = join(root, "test/fixtures");

const read = (...path) => {
  const file = join(fixtures, ...path);
  return existsSync(file) ? readFileSync(file) : gunzipSync(readFileSync(`${file}.gz`));
};
const readJson = (...path) => JSON.parse(read(...path).toString());

/** Returns the tensors that a folder's JSON lists. */
function tensorsOf(folder, outputs) {
  return outputs.map(({ name, file, dtype, shape }) => {
    const bytes = Uint8Array.from(read(folder, file));
    return dtype === "float16"
      ? { name, data: new Uint16Array(bytes.buffer), dims: shape, type: "f16" }
      : { name, data: new Float32Array(bytes.buffer), dims: shape, type: "f32" };
  });
}

async function boxes() {
  const folder = "yolo-fastest-1.1";
  return {
    tensors: await readTensors(join(fixtures, folder, "coffee/meta.json")),
    photo: "coffee.jpg",
    config: readJson(folder, "config.json"),
    options: { scores: "logits" },
    resize: "stretch",
  };
}

function keypoints() {
  const folder = "beyond/recorded/yunet_2026may_320/astronaut_collage";
  return {
    tensors: tensorsOf(folder, readJson(folder, "meta.json").outputs),
    photo: "astronaut_collage.jpg",
    config: { family: "yunet", inputSize: [320, 320], labels: ["face"] },
    options: { confidenceThreshold: 0.6, iouThreshold: 0.3, rules: { clamp: "none", gate: ">=" } },
    resize: "letterbox-topleft",
  };
}

/** Returns an example with seeded outputs, for tasks without a recording of a real network. */
function seeded(name, kept, more) {
  const folder = join("beyond/heads", name);
  const { input, classes, outputs } = readJson(folder, "fixture.json");
  return {
    tensors: tensorsOf(
      folder,
      outputs.filter((output) => kept.includes(output.name)),
    ),
    photo: null,
    config: { family: "yolov8", classes, inputSize: [input.width, input.height], ...more },
    options: { confidenceThreshold: 0.8, rules: { clamp: "none" } },
    resize: "none",
  };
}

/** Writes all examples to the folder that is served. */
export async function writeExamples() {
  const folder = join(pages, "public/examples");
  mkdirSync(folder, { recursive: true });
  const all = {
    boxes: await boxes(),
    keypoints: keypoints(),
    masks: seeded("seg_v8", ["output0", "output1"], { task: "segment", coordinates: "pixels" }),
    oriented: seeded("obb_v8", ["output0"], { task: "oriented", orientedSuppression: "opencv" }),
  };
  for (const [name, { tensors, photo, ...stated }] of Object.entries(all)) {
    writeFileSync(join(folder, `${name}.safetensors`), writeSafetensors(tensors));
    if (photo !== null) cpSync(join(fixtures, "photos", photo), join(folder, photo));
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ photo, ...stated }, null, 1));
  }
  await writeFirstPicture(folder, all.boxes);
}

/** Gzipped bytes of each import. */
const sizes = readJson("../../scripts/size.json");

/** Writes the first page's picture with its boxes, and the size of the decoder in kilobytes. */
async function writeFirstPicture(folder, { tensors, photo, config, options }) {
  const decoder = await createDecoder(config, options);
  const detections = decoder.decode(tensors);
  const title = `${photo} with ${detections.length} boxes`;
  writeFileSync(
    join(folder, "first.svg"),
    drawSvg(readFileSync(join(fixtures, "photos", photo)), detections, { title }),
  );
  const bytes = sizes["first load of createDecoder"];
  writeFileSync(
    join(pages, "first.json"),
    JSON.stringify({ found: detections.length, kB: Math.round(bytes / 1000) }),
  );
}
