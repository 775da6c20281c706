#!/usr/bin/env node
/** The command `boxwright-host`. Loads the program once the system's limits are checked. */
import { runWithinLimits } from "boxwright-service/limits";
import { printVersion } from "boxwright-service/version";

if (!printVersion(import.meta.url)) await runWithinLimits("boxwright-host", () => import("./run.ts"));
