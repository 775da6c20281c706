/** Runs in the browser: sets up the runtime, opens the recipe and times it. The bundler resolves the bare names. */
import * as recipe from "recipe";
import { setUp } from "set-up";
import { timeRecipe } from "./time.ts";

const fetched = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());

try {
  const { shape, frames, config } = await (await fetch("/task.json")).json();
  const image = new Float32Array((await fetched("/tensor.bin")).buffer);
  const model = await setUp({ fetched, shape });
  const opened = await recipe.open(model, config);
  globalThis.boxwrightResult = await timeRecipe(opened, image, shape, frames);
} catch (e) {
  globalThis.boxwrightError = String(e?.stack ?? e);
}
