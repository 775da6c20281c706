#!/usr/bin/env node
/** The command `boxwright-hub`. Loads the program once the system's limits are set. */
import { runWithinLimits } from "boxwright-service/limits";
import { printVersion } from "boxwright-service/version";

if (!printVersion(import.meta.url)) await runWithinLimits("hub", () => import("./run.ts"));
