#!/usr/bin/env node
/** The command `boxwright-hub`. Loads the rest once the limits of the system allow it. */
import { runWithinLimits } from "boxwright-service/limits";

await runWithinLimits("hub", () => import("./run.ts"));
