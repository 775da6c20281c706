/** What the playground keeps: what its controls change, and what it shows. */
import { reactive, shallowReactive } from "vue";
import type { Possibility } from "@repo/src/node/possibility.ts";
import type { HeatMap } from "./heat.ts";
import type { Photo } from "./worker/files.ts";
import type { Found, Look, ModelInfo, Opened, TensorInfo } from "./worker/jobs.ts";
import type { Candidate } from "./worker/reading.ts";
import type { EngineTime } from "./worker/timing.ts";

/** Milliseconds of the stages of what is shown. */
export interface Stages {
  prepare: number | null;
  run: number | null;
  decode: number | null;
  draw: number | null;
}

/** How a photo may stand in the network's input. */
export const RESIZES = ["letterbox", "letterbox-topleft", "stretch", "crop", "none"] as const;

/** Makes the state, empty. */
export function createState() {
  /** Texts and numbers that controls change. */
  const inputs = reactive({
    confidence: 0.25,
    iou: 0.45,
    resize: "letterbox" as string,
    /** JSON of the config; empty: the model file or the shapes decide. */
    configText: "",
    /** JSON of options over the config. */
    optionsText: "",
    heat: true,
    example: "",
  });
  /** Everything on the page. Replace values; never change them in place. */
  const shown = shallowReactive({
    busy: "",
    errors: [] as string[],
    notes: [] as string[],
    photo: null as Photo | null,
    tensors: [] as readonly TensorInfo[],
    looks: {} as { readonly [name: string]: Look },
    model: null as ModelInfo | null,
    video: null as File | null,
    possibilities: [] as readonly Possibility[],
    /** Index of the chosen possibility; -1: a config or a model file decides. */
    taken: -1,
    opened: null as Opened | null,
    found: null as Found | null,
    candidates: null as readonly Candidate[] | null,
    heat: null as HeatMap | null,
    times: [] as readonly EngineTime[],
    /** Grows with each decode, so that pictures are drawn again. */
    turn: 0,
  });
  const stages = reactive<Stages>({ prepare: null, run: null, decode: null, draw: null });
  return { inputs, shown, stages };
}
