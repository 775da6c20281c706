/** Reads model and config from the operator's files, which may be replaced while the agent runs. */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { codeOf, messageOf } from "boxwright-service/errors";
import type { NetworkSettings } from "../settings/schema.ts";
import type { ConfigSource } from "./live-config.ts";
import type { Network } from "./network.ts";

/** Returns a text that changes when the file is written or replaced. */
function stampOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path);
  return `${path} ${mtimeMs} ${size} ${ino}`;
}

/** @throws Error that names the file if its text is not JSON */
export function parseConfig(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Remove control characters, since the error quotes the text, which may contain any.
    const reason = messageOf(error).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
    throw new Error(`${path}: got text that is not JSON (${reason}), expected a config`);
  }
}

/** Makes a config source from the files that the settings name. */
export function configFiles(
  { model, config, options }: NetworkSettings & { readonly model: string },
  network: Network,
): ConfigSource {
  /** Stamps of both files: when content was last returned, and at the last check. */
  let [taken, seen] = ["", ""];
  let modelId = "";
  return {
    name: "config",
    place: config ?? model,
    read(isStart) {
      try {
        const stamps = [model, ...(config === null ? [] : [config])].map(stampOf);
        const now = stamps.join("\n");
        const isComplete = isStart || now === seen || stamps[0] === modelId;
        seen = now;
        // Wait until two checks find the same stamps, since a large model file may be half-written.
        if (!isStart && (now === taken || !isComplete)) return null;
        const text = config === null ? "" : readFileSync(config, "utf8");
        taken = now;
        modelId = stamps[0]!;
        return { text, id: `${modelId}\n${text}` };
      } catch (error) {
        // The file may be missing for a moment, while another program replaces it.
        if (codeOf(error) === "ENOENT" && !isStart) return null;
        throw error;
      }
    },
    async use(text) {
      const parsed = config === null ? undefined : parseConfig(text, config);
      await network.choose({ modelId, modelName: model, read: () => readFile(model), config: parsed, options });
      return network.plan!;
    },
  };
}
