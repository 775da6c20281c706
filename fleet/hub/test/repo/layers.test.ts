/** src/ as its plan has it: folders are layers. test/ has a folder for each. */
import { fileURLToPath } from "node:url";
import { filesOf, testLayers } from "boxwright-service/testing/layers";
import { describe, expect, it } from "vitest";

/** A folder imports itself and the folders before it. A file of src/ itself stands for its own layer. */
const LAYERS = [
  "core",
  "database",
  "files",
  "nouns",
  "check",
  "limits",
  "auth",
  "http",
  "alerts",
  "uploads",
  "agents",
  "graphql",
  "pages",
  "backup",
  "app.ts",
  "server.ts",
  "cli",
];

/** One thing in several layers: its rules, its answers, its pages, its commands. */
const SHARED = [
  "alerts",
  "adopt-keys",
  "answer",
  "api-keys",
  "application",
  "applications",
  "audit",
  "config",
  "device",
  "device-logs",
  "devices",
  "errors",
  "groups",
  "models",
  "snaps",
  "team",
  "teams",
];

testLayers(fileURLToPath(new URL("../../src", import.meta.url)), LAYERS, SHARED);

describe("test/", () => {
  it("has a folder for each folder of src/, and helpers only in support/", () => {
    const tests = fileURLToPath(new URL("..", import.meta.url));
    const known = new Set([
      ...LAYERS.map((layer) => layer.replace(/\.ts$/, "")),
      "client",
      "deploy",
      "faults",
      "repo",
      "support",
    ]);
    for (const file of filesOf(tests)) {
      const [folder] = file.split("/") as [string];
      expect([file, known.has(folder)]).toEqual([file, true]);
      expect([file, /\.test\.ts$/.test(file)]).toEqual([file, folder !== "support"]);
    }
  });
});
