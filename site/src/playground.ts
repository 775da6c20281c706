/**
 * The playground: the actions of its controls. When files change (`intake.ts`), the page decodes (`decode.ts`) and
 * explains (`explain.ts`), in the order of `work.ts`. `code.ts` and `link.ts` write the state as programs and as an
 * address.
 */
import { computed, watch } from "vue";
import type { Possibility } from "@repo/src/node/possibility.ts";
import { type Snippet, json, snippets } from "./code.ts";
import { findCandidates } from "./explain.ts";
import { addFiles, loadExample } from "./intake.ts";
import { type Link, fromHash, toHash } from "./link.ts";
import { type State, clearAll, createState } from "./state.ts";
import { Thread } from "./thread.ts";
import { createWork } from "./work.ts";
import type { jobs } from "./worker/jobs.ts";

export type Playground = ReturnType<typeof createPlayground>;

/** Milliseconds without a slider movement, after which candidates are listed. */
const REST = 120;

/** Makes the state of a playground, and the functions that its controls call. */
export function createPlayground() {
  const state = createState();
  const { inputs, shown, options } = state;
  const thread = new Thread<typeof jobs>(
    () => new Worker(new URL("./worker/worker.ts", import.meta.url), { type: "module" }),
  );
  const { decode, change, rebuild, stop } = createWork(state, thread.run);

  const openExample = (name: string, link: Link = {}): Promise<void> =>
    change(() => loadExample(state, thread.run, name, link));

  /**
   * Restores the settings in the address, on top of its example. Without an example in the address, opens the first
   * one.
   */
  async function openLink(): Promise<void> {
    const link = fromHash(location.hash);
    if (link.example !== undefined || link.configText === undefined)
      return openExample(link.example ?? "boxes", link);
    return change(() => {
      for (const [key, value] of Object.entries(link))
        if (value !== undefined) Object.assign(inputs, { [key]: value });
    });
  }

  /** Decodes the current files with the config, the options and the placement from the controls. */
  function decodeAgain(taken = shown.taken): Promise<void> {
    shown.errors = [];
    shown.taken = taken;
    return rebuild();
  }

  /** Applies a possibility: its options become the config, or override a model's file. */
  async function choose(chosen: Possibility): Promise<void> {
    if (shown.model === null) inputs.configText = json(chosen.options);
    else {
      // Drop options that an earlier possibility has written.
      const written = new Set(shown.possibilities.flatMap((possibility) => Object.keys(possibility.options)));
      const others = Object.entries(options.value).filter(([name]) => !written.has(name));
      inputs.optionsText = JSON.stringify({ ...Object.fromEntries(others), ...chosen.options });
    }
    if (chosen.missing.length === 0) await decodeAgain(chosen);
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(
    () => [inputs.confidence, inputs.iou],
    () => {
      void decode();
      clearTimeout(timer);
      timer = setTimeout(() => void findCandidates(state, thread.run), REST);
    },
    { flush: "sync" },
  );

  return {
    ...state,
    code: computed(() => codeOf(state)),
    add: (files: readonly File[]) => change(() => addFiles(state, thread.run, files)),
    clear: () => change(() => clearAll(state)),
    openExample,
    openLink,
    link: () => `${location.origin}${location.pathname}#${toHash(inputs)}`,
    decodeAgain,
    choose,
    /** Returns the bytes of the current model. */
    modelBytes: () => thread.run("bytesOf", shown.model!.id),
    close(): void {
      stop();
      clearTimeout(timer);
      thread.close();
    },
  };
}

/** Returns the config and the programs for the current state; none before a decode, or if a text is invalid JSON. */
function codeOf({ inputs, shown, config, options }: State): Snippet[] {
  if (shown.opened === null) return [];
  const { confidence: confidenceThreshold, iou: iouThreshold, resize } = inputs;
  const model = shown.model?.name ?? null;
  try {
    return snippets({
      config: config.value,
      options: options.value as never,
      model,
      confidenceThreshold,
      iouThreshold,
      resize,
    });
  } catch {
    return [];
  }
}
