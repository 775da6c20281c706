#!/usr/bin/env node
/** The command `boxwright-agent`. Loads the rest once the limits of the system allow it. */
import { runWithinLimits } from "boxwright-service/limits";

await runWithinLimits("boxwright-agent", () => import("./run.ts"));
