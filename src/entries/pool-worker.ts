/** `boxwright/pool-worker`: the file of a pool's threads. Bundlers take it for an entry of its own. */
import { parentPort } from "node:worker_threads";
import { serve } from "../pool/thread.ts";

if (parentPort) serve(parentPort);
