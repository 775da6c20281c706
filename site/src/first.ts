/** Decodes the first page's example, to time it. */
import { createDecoder } from "boxwright";
import { parseTensors } from "@repo/src/node/files/parse.ts";
import { medianOf } from "./worker/timing.ts";

const base = import.meta.env.BASE_URL;
/** Largest number of timed decodes, and of milliseconds for all of them. */
const ROUNDS = 50;
const LONGEST = 200;

/** Returns the median time of a decode, and the engine that ran. */
export async function timeFirst(): Promise<{ readonly milliseconds: number; readonly engine: string }> {
  const [stated, bytes] = await Promise.all([
    fetch(`${base}examples/boxes.json`).then((answer) => answer.json()),
    fetch(`${base}examples/boxes.safetensors`).then((answer) => answer.arrayBuffer()),
  ]);
  const decoder = await createDecoder(stated.config, stated.options);
  const tensors = parseTensors(new Uint8Array(bytes), "boxes.safetensors") as never;
  const job = (): number => decoder.decode(tensors).length;
  job();
  return { milliseconds: medianOf(job, ROUNDS, LONGEST), engine: decoder.engine };
}
