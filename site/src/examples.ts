/** The examples of the playground. Their files are made of the fixtures when the site is built. */
import type { Part } from "./files.ts";

/** An example as the list shows it. */
export interface Example {
  readonly name: string;
  readonly title: string;
  readonly about: string;
}

export const EXAMPLES: readonly Example[] = [
  { name: "boxes", title: "Boxes", about: "Yolo-Fastest: two raw maps of 255 channels" },
  { name: "keypoints", title: "Keypoints", about: "YuNet: twelve tensors, five points a face" },
  { name: "masks", title: "Masks", about: "A YOLOv8 head with coefficients and prototypes, seeded" },
  { name: "oriented", title: "Oriented boxes", about: "A YOLOv8 head with angles, seeded" },
  { name: "large", title: "[1,84,8400]", about: "The first workload of the benchmark, 2.8 MB" },
];

/** An example that is ready to be shown. */
export interface LoadedExample {
  readonly parts: readonly Part[];
  readonly config: object;
  readonly options: { readonly confidenceThreshold?: number; readonly iouThreshold?: number };
  readonly resize: string;
}

const base = import.meta.env.BASE_URL;

async function fetched(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${base}examples/${file}`);
  if (!response.ok) throw new Error(`${file}: the server of this site answered ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Loads an example. */
export async function loadExample(name: string): Promise<LoadedExample> {
  if (name === "large") return largeExample();
  const { readBytes } = await import("./files.ts");
  const [stated, tensors] = await Promise.all([fetched(`${name}.json`), fetched(`${name}.safetensors`)]);
  const { photo, ...rest } = JSON.parse(new TextDecoder().decode(stated));
  const parts = [await readBytes(`${name}.safetensors`, tensors)];
  if (photo !== null) parts.push(await readBytes(photo, await fetched(photo)));
  return { ...rest, parts };
}

async function largeExample(): Promise<LoadedExample> {
  const { WORKLOADS, makeWorkload } = await import("@repo/bench/workloads.ts");
  const { tensors } = makeWorkload(WORKLOADS[0]);
  const parts = Object.entries(tensors).map(([name, { data, dims }]) => ({
    name,
    data,
    dims: [...dims],
    type: "f32",
  }));
  return {
    parts: [{ kind: "tensors", tensors: parts as never }],
    config: { family: "yolov8", labels: "coco80", inputSize: [640, 640] },
    options: {},
    resize: "none",
  };
}
