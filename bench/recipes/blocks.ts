/** The code blocks of docs/recipes.md, which run unchanged. */
import { readFileSync } from "node:fs";

/** Environments of each recipe. onnxruntime-node is not for browsers, and the last three recipes need a page. */
export const PLACES: readonly (readonly [name: string, place: "Node" | "Chromium"])[] = [
  ["ort-node", "Node"],
  ["ort-web", "Node"],
  ["ort-web", "Chromium"],
  ["tfjs", "Node"],
  ["tfjs", "Chromium"],
  ["tflite", "Chromium"],
  ["litert", "Chromium"],
  ["webnn", "Chromium"],
];

/** Returns the code under each heading, in the order of the page. */
export function recipeBlocks(): Map<string, string> {
  const page = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8");
  const blocks = new Map<string, string>();
  for (const section of page.split(/^## /m).slice(1)) {
    const code = /```js\n([\s\S]*?)```/.exec(section)?.[1];
    if (code !== undefined) blocks.set(section.slice(0, section.indexOf("\n")), code);
  }
  return blocks;
}
