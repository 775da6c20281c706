#!/usr/bin/env node
/** The command `boxwright-agent`. Checks the system's limits before it loads the rest. */
import { runWithinLimits } from "boxwright-service/limits";

await runWithinLimits("boxwright-agent", () => import("./run.ts"));
