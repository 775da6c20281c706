/** Loads the examples of the playground. */
import { type FileContents, readBytes } from "./files.ts";

/** An example, ready to show. */
export interface LoadedExample {
  readonly files: readonly FileContents[];
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
  const [stated, tensors] = await Promise.all([fetched(`${name}.json`), fetched(`${name}.safetensors`)]);
  const { photo, ...rest } = JSON.parse(new TextDecoder().decode(stated));
  const files = [await readBytes(`${name}.safetensors`, tensors)];
  if (photo !== null) files.push(await readBytes(photo, await fetched(photo)));
  return { ...rest, files };
}

async function largeExample(): Promise<LoadedExample> {
  const { WORKLOADS, makeWorkload } = await import("@repo/bench/workloads.ts");
  const { tensors } = makeWorkload(WORKLOADS[0]);
  const files = Object.entries(tensors).map(([name, { data, dims }]) => ({
    name,
    data,
    dims: [...dims],
    type: "f32",
  }));
  return {
    files: [{ kind: "tensors", tensors: files as never }],
    config: { family: "yolov8", labels: "coco80", inputSize: [640, 640] },
    options: {},
    resize: "none",
  };
}
