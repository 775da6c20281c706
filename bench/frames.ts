/** So many frames and nothing measured, for a tool that counts instructions: WORKLOAD ENGINE FRAMES. */
import type { EngineName } from "../src/entries/index.ts";
import { prepare } from "./engines.ts";
import { loadWorkload } from "./workloads.ts";

const [name, engine, frames] = process.argv.slice(2);
const { run } = await prepare({ engine: engine as EngineName, mode: "resident" }, loadWorkload(name));
let found = 0;
for (let i = Number(frames); i > 0; i--) found = run() as number;
console.log(found);
