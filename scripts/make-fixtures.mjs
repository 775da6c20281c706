/**
 * Makes test/fixtures/ from the folder of recorded network outputs. Run this only when the recordings change:
 *
 *     npm install --no-save jpeg-js pngjs
 *     node scripts/make-fixtures.mjs ../shared/data
 */
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [data] = process.argv.slice(2);
if (!data) throw new Error("got no folder, expected: node scripts/make-fixtures.mjs DATA");
const out = "test/fixtures";
const photos = ["astronaut", "chelsea", "coffee"];

const json = (value) =>
  `${JSON.stringify(value, null, 2).replace(/\[\s+([-\d.,\s]+?)\s+\]/g, (_, n) => `[${n.split(/,\s*/).join(", ")}]`)}\n`;
const read = async (...path) => JSON.parse(await readFile(join(...path), "utf8"));
const lines = async (name) =>
  (await readFile(join(data, "labels", name), "utf8")).split(/\r?\n/).filter((l) => l !== "");

const coco80 = await lines("coco80.txt");
const coco91 = await lines("coco91.txt");

const networks = [
  {
    name: "yolo-fastest-1.1",
    from: "yolo-fastest-1.1",
    // Leave out the decoded region_yolo_* rows: they are three times the size and follow from these.
    outputs: ["raw_conv_120", "raw_conv_129"],
    config: {
      model: { model_name: "yolo-fastest-1.1" },
      nn_config: {
        output_format: "detection",
        NN_family: "YOLO",
        input_size: "320x320",
        NN_specific_metadata: {
          classes: 80,
          coordinates: 4,
          anchors: [12, 18, 37, 49, 52, 132, 115, 73, 119, 199, 242, 238],
          anchor_masks: { side20: [0, 1, 2], side10: [3, 4, 5] },
          iou_threshold: 0.45,
          confidence_threshold: 0.26,
        },
      },
      mappings: { labels: coco80 },
    },
  },
  {
    name: "mobilenet-ssd",
    from: "mobilenet_ssd_detection_output",
    outputs: ["detection_out"],
    config: {
      NN_config: { output_format: "detection", NN_family: "mobilenet", confidence_threshold: 0.5 },
      mappings: { labels: coco91 },
    },
  },
];

for (const { name, from, outputs, config } of networks) {
  await rm(join(out, name), { recursive: true, force: true });
  await mkdir(join(out, name), { recursive: true });
  await writeFile(join(out, name, "config.json"), json(config));
  for (const photo of photos) {
    const source = join(data, "recorded", from, photo);
    const target = join(out, name, photo);
    await mkdir(target, { recursive: true });
    const meta = await read(source, "meta.json");
    const { model, runtime, imageWidth, imageHeight, preprocess } = meta;
    const kept = meta.outputs.filter((o) => outputs.includes(o.name));
    for (const { file } of kept)
      await writeFile(join(target, `${file}.gz`), gzipSync(await readFile(join(source, file)), { level: 9 }));
    await writeFile(
      join(target, "meta.json"),
      json({ model, runtime, photo, imageWidth, imageHeight, preprocess, outputs: kept }),
    );
    await writeFile(join(target, "expected.json"), json(await read(source, "expected.json")));
  }
}

await rm(join(out, "photos"), { recursive: true, force: true });
await mkdir(join(out, "photos"), { recursive: true });
await mkdir(join(out, "labels"), { recursive: true });
for (const file of ["coco80.txt", "coco91.txt"])
  await copyFile(join(data, "labels", file), join(out, "labels", file));
// Keep one photo as PNG. Convert the large ones to JPEG: this keeps the repository small and tests both formats.
await copyFile(join(data, "photos", "chelsea.png"), join(out, "photos", "chelsea.png"));
const { PNG } = (await import("pngjs")).default;
const { encode } = (await import("jpeg-js")).default;
async function toJpeg(folder, photo) {
  const { width, height, data: pixels } = PNG.sync.read(await readFile(join(data, folder, `${photo}.png`)));
  await writeFile(join(out, "photos", `${photo}.jpg`), encode({ width, height, data: pixels }, 88).data);
}
for (const photo of ["astronaut", "coffee"]) await toJpeg("photos", photo);

// One photo with several faces, one of them rotated.
const faces = "astronaut_collage";
await toJpeg("recorded-beyond", faces);
const recording = join("yunet_2026may_320", faces);
const from = join(data, "recorded-beyond", recording);
const to = join(out, "beyond", "recorded", recording);
await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
for (const file of await readdir(from))
  await writeFile(join(to, `${file}.gz`), gzipSync(await readFile(join(from, file)), { level: 9 }));
