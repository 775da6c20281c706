#!/usr/bin/env node
/** The command `boxwright-host`. Checks the system's limits before it loads the rest. */
import { runWithinLimits } from "boxwright-service/limits";

await runWithinLimits("boxwright-host", () => import("./run.ts"));
