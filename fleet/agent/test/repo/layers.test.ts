import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testLayers } from "boxwright-service/testing/layers";

testLayers(
  join(fileURLToPath(new URL("../..", import.meta.url)), "src"),
  [
    "core",
    "launcher",
    "settings",
    "spool",
    "network",
    "shadow",
    "sources",
    "sinks",
    "frame-trace.ts",
    "previews.ts",
    "camera.ts",
    "hub",
    "health",
    "agent.ts",
    "cli",
  ],
  // A source, and a sink, is opened by its settings.
  ["open"],
);
