/** The state of the playground, and what its controls do. */
import { computed, toRaw, watch } from "vue";
import type { Frame } from "boxwright";
import { type Snippet, snippets } from "./code.ts";
import { type Size, sizeOf } from "./draw.ts";
import { fromHash, toHash } from "./link.ts";
import { firstComplete, optionsOf } from "./possible.ts";
import { Reader } from "./reader.ts";
import { createState } from "./state.ts";
import type { PartInfo } from "./worker/jobs.ts";

/** Returns parsed JSON as it may be sent to the thread. Vue's proxies may not. */
const plain = <T>(value: T): T => toRaw(value);

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export type Playground = ReturnType<typeof createPlayground>;

/** Makes the state of a playground. */
export function createPlayground() {
  const { inputs, shown, stages } = createState();
  const reader = new Reader();
  /** True if the sliders have to take over the thresholds of the next config. */
  let adoptsThresholds = false;
  /** Grows with each change of files or config. Work that an older change began is dropped. */
  let version = 0;

  const config = computed<unknown>(() =>
    inputs.configText.trim() === "" ? null : JSON.parse(inputs.configText),
  );
  const options = computed<object>(() =>
    inputs.optionsText.trim() === "" ? {} : JSON.parse(inputs.optionsText),
  );
  /** Size of the canvases. */
  const size = computed<Size>(() => sizeOf(shown.photo?.bitmap ?? null, shown.opened?.inputSize ?? null));
  const code = computed<Snippet[]>(() => {
    if (shown.opened === null) return [];
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
    if (shown.model !== null) void reader.ask("closeNetwork");
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
      opened: null,
      found: null,
      looks: {},
      candidates: null,
      heat: null,
      times: [],
      notes: [],
    });
    Object.assign(stages, { prepare: null, run: null, decode: null, draw: null });
    shown.turn++;
  }

  function take(part: PartInfo): void {
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
      shown.model = part.model;
      shown.tensors = [];
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
    const parts: PartInfo[] = [];
    for (const file of files)
      try {
        parts.push(await reader.ask("readFile", file));
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
      const { parts, config: stated, options: more, resize } = await reader.ask("loadExample", name);
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
      void reader.ask("keep", [
        ...shown.tensors.map(({ id }) => id),
        ...(shown.model ? [shown.model.id] : []),
      ]);
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
    const { id, name, format, missing } = shown.model!;
    const possibilities = await reader.ask("possibilitiesOfModel", id, plain(options.value));
    if (isOld()) return;
    shown.possibilities = possibilities;
    shown.tensors = [];
    if (format !== "onnx")
      throw new Error(
        `${name}: boxwright reads this file, but only ONNX files run on this page. Drop the output tensors too.`,
      );
    if (shown.photo === null) {
      shown.notes = [`${name} is read. Drop a photo too, or use the camera, and it runs.`];
      return;
    }
    const needed = missing.filter(({ path }) => !(path in options.value));
    if (needed.length > 0 && config.value === null && shown.taken < 0) {
      const first = firstComplete(possibilities);
      if (first < 0) throw new Error(needed.map(({ path, message: why }) => `${path}: ${why}`).join(" "));
      shown.taken = first;
      inputs.optionsText = JSON.stringify({ ...options.value, ...optionsOf(possibilities[first]) });
    }
    shown.busy = "Running the network";
    const { bitmap } = shown.photo;
    const ran = await reader.ask("run", id, plain(options.value), plain(config.value), bitmap);
    if (isOld()) return;
    Object.assign(stages, { prepare: ran.prepare, run: ran.run });
    inputs.resize = ran.resize;
    shown.tensors = ran.tensors;
  }

  async function read(isOld: () => boolean): Promise<void> {
    shown.busy = "Decoding";
    const { tensors } = shown;
    const ids = tensors.map(({ id }) => id);
    if (config.value === null && shown.model === null) {
      const possibilities = await reader.ask("possibilities", ids, plain(options.value));
      if (isOld()) return;
      shown.possibilities = possibilities;
      const first = firstComplete(possibilities);
      if (first < 0)
        throw new Error(
          possibilities.length === 0
            ? "No family reads these shapes. Drop a config file, or the other tensors of the network."
            : "These shapes need more than a family. Choose a reading below, complete its config, and decode.",
        );
      shown.taken = first;
      inputs.configText = JSON.stringify(optionsOf(possibilities[first]), null, 1);
    }
    const opened = await reader.ask("open", {
      tensors: ids,
      model: shown.model?.id ?? null,
      config: plain(config.value),
      options: plain(options.value),
      frame: frameOf(),
    });
    if (isOld()) return;
    shown.opened = opened;
    if (adoptsThresholds && opened.confidence !== null)
      Object.assign(inputs, { confidence: opened.confidence, iou: opened.iou });
    adoptsThresholds = false;
    await decode();
    if (isOld()) return;
    shown.busy = "";
    // The boxes are shown. Everything else follows.
    for (const { id, name } of tensors) {
      const look = await reader.ask("look", id);
      if (isOld()) return;
      shown.looks = { ...shown.looks, [name]: look };
    }
    await findCandidates();
    if (isOld()) return;
    const possibilities = await reader.ask("possibilities", ids, plain(options.value));
    if (isOld()) return;
    shown.possibilities = possibilities;
    const heat = await reader.ask("heat");
    if (isOld()) return;
    shown.heat = heat;
    const times = await reader.ask("times", thresholds());
    if (!isOld()) shown.times = times;
  }

  const thresholds = () => ({ confidenceThreshold: inputs.confidence, iouThreshold: inputs.iou });

  let decoding: Promise<void> | null = null;
  let isStale = false;
  /** Decodes with the thresholds of the sliders. While one decode is under way, only the last call counts. */
  function decode(): Promise<void> {
    isStale = true;
    decoding ??= (async () => {
      while (isStale) {
        isStale = false;
        await decodeOnce();
      }
      decoding = null;
    })();
    return decoding;
  }

  async function decodeOnce(): Promise<void> {
    const { opened } = shown;
    if (opened === null) return;
    try {
      const found = await reader.ask("decode", thresholds(), [...size.value]);
      if (opened !== shown.opened) return;
      shown.found = found;
      stages.decode = found.ms;
      if (found.notes.length > 0) shown.notes = [...shown.notes, ...found.notes];
    } catch (error) {
      if (opened !== shown.opened) return;
      shown.found = null;
      shown.errors = [message(error)];
    }
    shown.turn++;
  }

  let waiting = 0;
  async function findCandidates(): Promise<void> {
    const { opened } = shown;
    if (shown.found === null) return;
    const candidates = await reader.ask("candidates", thresholds());
    if (opened === shown.opened) shown.candidates = candidates;
  }

  watch(
    () => [inputs.confidence, inputs.iou],
    () => {
      void decode();
      clearTimeout(waiting);
      waiting = window.setTimeout(() => void findCandidates(), 120);
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

  /** Returns the bytes of the model that is shown. */
  const modelBytes = (): Promise<Uint8Array> => reader.ask("bytesOf", shown.model!.id);

  return {
    inputs,
    shown,
    stages,
    size,
    code,
    add,
    openExample,
    choose,
    rebuild,
    setResize,
    link,
    openLink,
    clear,
    modelBytes,
    close: () => reader.close(),
  };
}
