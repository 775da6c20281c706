/** `boxwright/pool-worker`: the file of a pool's threads. Bundlers take it for an entry of its own. */
import { parentPort } from "node:worker_threads";
import { SEGMENT } from "../tasks/masks/reader.ts";
import { ORIENTED } from "../tasks/oriented/reader.ts";
import { provideSuppressor } from "../decode/tasks.ts";
import { serve } from "../pool/thread.ts";
import { poseReader } from "../tasks/pose/reader.ts";
import { SUPPRESSOR } from "../tasks/suppression/attach.ts";

// Harmless where nobody asks for a method. It keeps no state.
provideSuppressor(SUPPRESSOR);
if (parentPort) serve(parentPort, [poseReader, SEGMENT, ORIENTED]);
