/**
 * Writes the memory image of a workload, as a host without JavaScript would be given it: `node ... image.ts
 * WORKLOAD FILE`. Prints the tensor file, the kind, the threshold and the number of detections for
 * `instructions.sh`.
 */
import { writeFileSync } from "node:fs";
import { outputsOf, optionsOf } from "./engines.ts";
import { loadPackage } from "./package.ts";
import { loadWorkload } from "./workloads.ts";

const [name, file] = process.argv.slice(2);
const workload = loadWorkload(name);
const outputs = outputsOf(workload);
const { createDecoderSync } = await loadPackage();
const decoder = createDecoderSync(optionsOf(workload), { engine: "scalar", outputs });
for (const [key, { data }] of Object.entries(outputs))
  (decoder.slots[key].data as Float32Array).set(data as Float32Array);
const { length } = decoder.decode(outputs);
writeFileSync(file, new Uint8Array(Object.values(decoder.slots)[0].data.buffer));
const kind = workload.type === "float32" ? workload.kind : workload.set;
console.log([workload.file, kind, workload.threshold, length, workload.boxes ?? 0].join(" "));
