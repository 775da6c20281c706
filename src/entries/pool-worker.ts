/** `boxwright/pool-worker`: the file that a pool's threads run. A separate entry, so that bundlers can include it. */
import { parentPort } from "node:worker_threads";
import { serve } from "../pool/thread.ts";

if (parentPort) serve(parentPort);
