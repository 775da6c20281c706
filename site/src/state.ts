/** The playground's state: inputs from the controls, the content of the page, and values computed from both. */
import { pageWords } from "./page-words.ts";
import { type ComputedRef, computed, reactive, shallowReactive } from "vue";
import type { DecoderOptions } from "boxwright";
import type { Possibility } from "@repo/src/node/possibility.ts";
import { type Size, sizeOf } from "./draw.ts";
import type { HeatMap } from "./heat.ts";
import type { Candidate } from "./worker/reading.ts";
import type { Photo } from "./worker/files.ts";
import type { Found, ModelInfo, Opened, TensorInfo, TensorView } from "./worker/jobs.ts";
import type { EngineTime } from "./worker/timing.ts";

/** Milliseconds of each stage; null if the stage has not run. */
export interface Stages {
  prepare: number | null;
  run: number | null;
  decode: number | null;
  draw: number | null;
}

/** Method of resizing a photo for the network's input. */
export const RESIZES = ["letterbox", "letterbox-topleft", "stretch", "crop", "none"] as const;

export type State = ReturnType<typeof createState>;

/** Returns parsed JSON, null for an empty text. */
const parsed = (text: string): unknown => (text.trim() === "" ? null : JSON.parse(text));

/** Returns the value of a JSON text. Keeps the last value while the text is invalid, as during typing. */
const lastParsed = (text: () => string): ComputedRef<unknown> =>
  computed((before) => {
    try {
      return parsed(text());
    } catch {
      return before ?? null;
    }
  });

/** Throws if a text is invalid JSON. */
export function checkTexts({ configText, optionsText }: State["inputs"]): void {
  for (const [name, text] of Object.entries({ Config: configText, Options: optionsText }))
    try {
      parsed(text);
    } catch (cause) {
      throw new Error(`${name} is not JSON: ${messageOf(cause)}`, { cause });
    }
}

/** Makes an empty state. */
export function createState() {
  /** Texts and numbers from the controls. */
  const inputs = reactive({
    confidence: 0.25,
    iou: 0.45,
    resize: "letterbox" as string,
    /** JSON of the config; empty: use the model file or the shapes. */
    configText: "",
    /** JSON of options that override the config. */
    optionsText: "",
    heat: true,
    example: "",
    /** True: the sliders take the thresholds of the next config. */
    adoptsThresholds: false,
  });
  /** Everything on the page. Replace values; never change them in place. */
  const shown = shallowReactive({
    busy: "",
    /** True while files or an example are read, since their settings would overwrite typed ones. */
    isLocked: true,
    errors: [] as string[],
    /** Interpretation of each file, if its name does not show it. */
    told: [] as string[],
    notes: [] as string[],
    photo: null as Photo | null,
    tensors: [] as readonly TensorInfo[],
    views: {} as { readonly [name: string]: TensorView },
    model: null as ModelInfo | null,
    video: null as File | null,
    possibilities: [] as readonly Possibility[],
    /** The chosen possibility; null with a config or a model file. */
    taken: null as Possibility | null,
    opened: null as Opened | null,
    found: null as Found | null,
    candidates: null as readonly Candidate[] | null,
    heat: null as HeatMap | null,
    times: [] as readonly EngineTime[],
    /** Count of decodes. When it grows, boxes are drawn again. */
    decodes: 0,
  });
  const stages = reactive<Stages>({ prepare: null, run: null, decode: null, draw: null });
  const config = lastParsed(() => inputs.configText);
  const stated = lastParsed(() => inputs.optionsText);
  const options = computed(() => (stated.value ?? {}) as DecoderOptions);
  /** Size of the canvases. */
  const size = computed<Size>(() => sizeOf(shown.photo?.bitmap ?? null, shown.opened?.inputSize ?? null));
  return { inputs, shown, stages, config, options, size };
}

/** Drops all computed values. */
export function clearResults({ shown, stages }: State): void {
  const none = { opened: null, found: null, views: {}, candidates: null, heat: null, times: [], notes: [] };
  Object.assign(shown, none);
  Object.assign(stages, { prepare: null, run: null, decode: null, draw: null });
  shown.decodes++;
}

/** Drops files, config, options and all computed values. */
export function clearAll(state: State): void {
  Object.assign(state.inputs, { configText: "", optionsText: "", example: "", adoptsThresholds: false });
  const none = {
    errors: [],
    told: [],
    photo: null,
    tensors: [],
    model: null,
    video: null,
    possibilities: [],
    taken: null,
  };
  Object.assign(state.shown, none);
  clearResults(state);
}

export const messageOf = (error: unknown): string =>
  pageWords(error instanceof Error ? error.message : String(error));

/** Returns the thresholds of the sliders. */
export const thresholdsOf = ({ inputs }: State) => ({
  confidenceThreshold: inputs.confidence,
  iouThreshold: inputs.iou,
});
