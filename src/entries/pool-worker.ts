/** `boxwright/pool-worker`: the file of a pool's threads. Bundlers take it for an entry of its own. */
import { parentPort } from "node:worker_threads";
import { SEGMENT } from "../masks/reader.ts";
import { ORIENTED } from "../oriented/reader.ts";
import { provideSuppressor } from "../decode/tasks.ts";
import { serve } from "../pool/thread.ts";
import { poseReader } from "../pose/reader.ts";
import { SUPPRESSOR } from "../suppress/attach.ts";

// Harmless where nobody asks for a method. It keeps no state.
provideSuppressor(SUPPRESSOR);
if (parentPort) serve(parentPort, [poseReader, SEGMENT, ORIENTED]);
