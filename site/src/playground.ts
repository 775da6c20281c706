/** The state of the playground, and what its controls do. */
import { computed, watch } from "vue";
import type { DetectorOptions, Frame } from "boxwright";
import { type Snippet, snippets } from "./code.ts";
import { loadExample } from "./examples.ts";
import { type Part, readFile } from "./files.ts";
import { fromHash, toHash } from "./link.ts";
import { type OpenNetwork, openNetwork } from "./network.ts";
import { rangeOf } from "./numbers.ts";
import { firstComplete, optionsOf, possibilitiesOf } from "./possible.ts";
import { CandidateFinder, HeatMaps, type Wanted, openDecoder, timeEngines, withLabels } from "./reading.ts";
import { provideScalar } from "./scalar.ts";
import { createState } from "./state.ts";

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export type Playground = ReturnType<typeof createPlayground>;

/** Makes the state of a playground. */
export function createPlayground() {
  const { inputs, shown, stages } = createState();
  let wanted: Wanted | null = null;
  let finder: CandidateFinder | null = null;
  let suppressesAcrossClasses = false;
  /** True if the sliders have to take over the thresholds of the next config. */
  let adoptsThresholds = false;
  let network: OpenNetwork | null = null;
  /** Grows with each change of files or config. Work that an older change began is dropped. */
  let version = 0;

  const config = computed<unknown>(() =>
    inputs.configText.trim() === "" ? null : JSON.parse(inputs.configText),
  );
  const options = computed<object>(() =>
    inputs.optionsText.trim() === "" ? {} : JSON.parse(inputs.optionsText),
  );
  const code = computed<Snippet[]>(() => {
    if (shown.decoder === null) return [];
    try {
      return snippets({
        config: config.value,
        options: options.value as never,
        model: shown.model?.name ?? null,
        confidenceThreshold: inputs.confidence,
        iouThreshold: inputs.iou,
        resize: inputs.resize,
      });
    } catch {
      return [];
    }
  });

  function frameOf(): Frame | undefined {
    if (shown.photo === null || inputs.resize === "none") return undefined;
    const { width, height } = shown.photo.bitmap;
    return { width, height, resize: inputs.resize as never };
  }

  function clear(): void {
    void network?.detector.close();
    network = null;
    Object.assign(inputs, { configText: "", optionsText: "", example: "" });
    Object.assign(shown, {
      errors: [],
      photo: null,
      tensors: [],
      model: null,
      video: null,
      possibilities: [],
      taken: -1,
    });
    forget();
  }

  /** Drops everything that was computed. */
  function forget(): void {
    Object.assign(shown, {
      decoder: null,
      description: "",
      detections: null,
      candidates: null,
      heat: null,
      times: [],
      notes: [],
    });
    Object.assign(stages, { prepare: null, run: null, decode: null, draw: null });
    [wanted, finder] = [null, null];
    shown.turn++;
  }

  function take(part: Part): void {
    if (part.kind === "photo") shown.photo = part.photo;
    else if (part.kind === "video") shown.video = part.file;
    else if (part.kind === "labels")
      inputs.optionsText = JSON.stringify({ ...options.value, labels: part.labels });
    else if (part.kind === "config") inputs.configText = part.text;
    else if (part.kind === "tensors") {
      const added = new Set(part.tensors.map(({ name }) => name));
      shown.tensors = [...shown.tensors.filter(({ name }) => !added.has(name)), ...part.tensors];
      shown.model = null;
    } else {
      shown.model = { name: part.name, model: part.model, bytes: part.bytes };
      shown.tensors = [];
      void network?.detector.close();
      network = null;
    }
  }

  /** Reads files beside what is there already. Files of an example go when the first own one comes. */
  async function add(files: readonly File[]): Promise<void> {
    if (inputs.example !== "") clear();
    shown.errors = [];
    shown.busy = "Reading files";
    // Drop the guess: the next one is made of all tensors.
    if (shown.taken >= 0 && shown.model === null) inputs.configText = "";
    shown.taken = -1;
    const parts: Part[] = [];
    for (const file of files)
      try {
        parts.push(await readFile(file));
      } catch (error) {
        shown.errors = [...shown.errors, message(error)];
      }
    // A config belongs to the model before, unless it comes with the new one.
    if (parts.some(({ kind }) => kind === "model")) inputs.configText = "";
    parts.forEach(take);
    adoptsThresholds = true;
    await rebuild();
  }

  /** Shows an example. Settings in a link override those of the example. */
  async function openExample(name: string, over: ReturnType<typeof fromHash> = {}): Promise<void> {
    clear();
    shown.busy = "Loading the example";
    try {
      const { parts, config: stated, options: more, resize } = await loadExample(name);
      parts.forEach(take);
      const { confidenceThreshold = 0.25, iouThreshold = 0.45, ...others } = more;
      Object.assign(inputs, {
        example: name,
        configText: over.config ?? JSON.stringify(stated, null, 1),
        optionsText: over.options ?? (Object.keys(others).length > 0 ? JSON.stringify(others) : ""),
        confidence: over.confidence ?? confidenceThreshold,
        iou: over.iou ?? iouThreshold,
        resize: over.resize ?? resize,
      });
    } catch (error) {
      shown.errors = [message(error)];
      shown.busy = "";
      return;
    }
    await rebuild();
  }

  /** Takes a possibility: its options become the config, or the options over a model's file. */
  async function choose(index: number): Promise<void> {
    const stated = optionsOf(shown.possibilities[index]);
    if (stated === null) return;
    shown.taken = index;
    if (shown.model === null) inputs.configText = JSON.stringify(stated, null, 1);
    else inputs.optionsText = JSON.stringify({ ...options.value, ...stated });
    await rebuild();
  }

  /** Computes everything again that depends on files, config and options. */
  async function rebuild(): Promise<void> {
    const mine = ++version;
    const isOld = (): boolean => mine !== version;
    forget();
    try {
      if (shown.model !== null) await runModel(isOld);
      if (isOld()) return;
      if (shown.tensors.length > 0) await read(isOld);
    } catch (error) {
      if (!isOld()) shown.errors = [...shown.errors, message(error)];
    } finally {
      if (!isOld()) shown.busy = "";
    }
  }

  async function runModel(isOld: () => boolean): Promise<void> {
    const { model, bytes, name } = shown.model!;
    shown.possibilities = possibilitiesOf({ model, options: options.value });
    shown.tensors = [];
    if (model.format !== "onnx")
      throw new Error(
        `${name}: boxwright reads this file, but only ONNX files run on this page. Drop the output tensors too.`,
      );
    if (shown.photo === null) {
      shown.notes = [`${name} is read. Drop a photo too, or use the camera, and it runs.`];
      return;
    }
    const needed = model.missing.filter(({ path }) => !(path in options.value));
    if (needed.length > 0 && config.value === null && shown.taken < 0) {
      const first = firstComplete(shown.possibilities);
      if (first < 0) throw new Error(needed.map(({ path, message: why }) => `${path}: ${why}`).join(" "));
      shown.taken = first;
      inputs.optionsText = JSON.stringify({ ...options.value, ...optionsOf(shown.possibilities[first]) });
    }
    shown.busy = "Running the network";
    void network?.detector.close();
    network = null;
    const opened = await openNetwork(bytes, options.value as DetectorOptions, config.value ?? undefined);
    if (isOld()) return void opened.detector.close();
    network = opened;
    await opened.detector.detect(shown.photo.bitmap as never);
    const { prepare, run } = opened.detector.timings;
    Object.assign(stages, { prepare, run });
    inputs.resize = opened.detector.decoder.prepareRule.resize ?? "letterbox";
    shown.tensors = opened.outputs();
  }

  async function read(isOld: () => boolean): Promise<void> {
    shown.busy = "Decoding";
    const { tensors } = shown;
    shown.ranges = {};
    void (async () => {
      for (const tensor of tensors) {
        const range = await rangeOf(tensor);
        if (isOld()) return;
        shown.ranges = { ...shown.ranges, [tensor.name]: range };
      }
    })();
    if (config.value === null && shown.model === null) {
      shown.possibilities = possibilitiesOf({ tensors, options: options.value });
      const first = firstComplete(shown.possibilities);
      if (first < 0)
        throw new Error(
          shown.possibilities.length === 0
            ? "No family reads these shapes. Drop a config file, or the other tensors of the network."
            : "These shapes need more than a family. Choose a reading below, complete its config, and decode.",
        );
      shown.taken = first;
      inputs.configText = JSON.stringify(optionsOf(shown.possibilities[first]), null, 1);
    }
    const made: Wanted = {
      config: config.value === null ? shown.model!.model : withLabels(config.value as never),
      options: options.value as never,
      tensors,
      frame: frameOf(),
    };
    const decoder = await openDecoder(made, {
      onNote: (note) => void (shown.notes = [...shown.notes, note]),
    });
    if (isOld()) return;
    wanted = made;
    shown.decoder = decoder;
    const { confidenceThreshold, iouThreshold } = decoder.config;
    if (adoptsThresholds && typeof confidenceThreshold === "number")
      Object.assign(inputs, { confidence: confidenceThreshold, iou: iouThreshold });
    adoptsThresholds = false;
    decode();
    const description = decoder.describe();
    shown.description = description.text;
    suppressesAcrossClasses = description.json.kind === "plan" && description.json.rules.suppress === "all";
    shown.busy = "";
    // Show the boxes first. Candidates, heat maps and times follow.
    await new Promise((resolve) => setTimeout(resolve));
    finder = await CandidateFinder.open(made);
    await new Promise((resolve) => setTimeout(resolve));
    if (isOld()) return;
    findCandidates();
    await new Promise((resolve) => setTimeout(resolve));
    if (isOld()) return;
    shown.possibilities = possibilitiesOf({ tensors, options: options.value });
    await new Promise((resolve) => setTimeout(resolve));
    const heat = await HeatMaps.make(made);
    if (isOld()) return;
    shown.heat = heat;
    shown.turn++;
    await provideScalar();
    const times = await timeEngines(made, thresholds());
    if (!isOld()) shown.times = times;
  }

  const thresholds = () => ({ confidenceThreshold: inputs.confidence, iouThreshold: inputs.iou });

  /** Decodes with the thresholds of the sliders. */
  function decode(): void {
    if (wanted === null || shown.decoder === null) return;
    try {
      shown.decoder.update(thresholds());
      const start = performance.now();
      shown.detections = shown.decoder.decode(wanted.tensors as never, wanted.frame);
      stages.decode = performance.now() - start;
    } catch (error) {
      shown.detections = null;
      shown.errors = [message(error)];
    }
    shown.turn++;
  }

  let waiting = 0;
  function findCandidates(): void {
    if (wanted === null || finder === null || shown.detections === null) return;
    try {
      shown.candidates = finder.find(wanted, shown.detections, thresholds(), suppressesAcrossClasses);
    } catch {
      shown.candidates = null;
    }
  }

  watch(
    () => [inputs.confidence, inputs.iou],
    () => {
      decode();
      clearTimeout(waiting);
      waiting = window.setTimeout(findCandidates, 120);
    },
    { flush: "sync" },
  );

  /** Decodes again with the photo placed otherwise. */
  function setResize(resize: string): void {
    inputs.resize = resize;
    void rebuild();
  }

  function link(): string {
    const { example, confidence, iou, resize, configText, optionsText } = inputs;
    return `${location.origin}${location.pathname}#${toHash({ example, confidence, iou, resize, config: configText, options: optionsText })}`;
  }

  /** Restores the state that the address holds. */
  async function openLink(): Promise<void> {
    const stated = fromHash(location.hash);
    if (stated.example !== undefined) return openExample(stated.example, stated);
    for (const key of ["confidence", "iou", "resize"] as const)
      if (stated[key] !== undefined) Object.assign(inputs, { [key]: stated[key] });
    inputs.configText = stated.config ?? "";
    inputs.optionsText = stated.options ?? "";
  }

  return { inputs, shown, stages, code, add, openExample, choose, rebuild, setResize, link, openLink, clear };
}
