/** Accepts files and examples. */
import { json } from "./code.ts";
import type { Link } from "./link.ts";
import { type State, clearAll, messageOf } from "./state.ts";
import type { FileInfo, RunJob } from "./worker/jobs.ts";

/** Stores the contents of a file in the state of the playground. */
function place({ inputs, shown, options }: State, file: FileInfo): void {
  if (file.kind === "labels" || file.kind === "config") shown.told = [...shown.told, toldOf(file)];
  if (file.kind === "photo") shown.photo = file.photo;
  else if (file.kind === "video") shown.video = file.file;
  else if (file.kind === "labels")
    inputs.optionsText = JSON.stringify({ ...options.value, labels: file.labels });
  else if (file.kind === "config") inputs.configText = file.text;
  else if (file.kind === "tensors") {
    const added = new Set(file.tensors.map(({ name }) => name));
    shown.tensors = [...shown.tensors.filter(({ name }) => !added.has(name)), ...file.tensors];
    shown.model = null;
  } else {
    shown.model = file.model;
    shown.tensors = [];
  }
}

/** Largest number of label names in a sentence. */
const NAMED = 4;

/** Returns a sentence about how a text file was interpreted. */
function toldOf(file: Extract<FileInfo, { kind: "labels" | "config" }>): string {
  if (file.kind === "config") return `${file.name} is taken for the config of the network.`;
  const { name, labels } = file;
  const more = labels.length > NAMED ? ", ..." : "";
  const count = labels.length === 1 ? "1 label" : `${labels.length} labels`;
  return `${name} is taken for a list of ${count}: ${labels.slice(0, NAMED).join(", ")}${more}`;
}

/** Reads files in addition to the current ones. The first file replaces an example. */
export async function addFiles(state: State, run: RunJob, files: readonly File[]): Promise<void> {
  const { inputs, shown } = state;
  shown.errors = [];
  shown.told = [];
  shown.busy = "Reading files";
  const read: FileInfo[] = [];
  const errors: string[] = [];
  for (const file of files)
    await run("readFile", file).then(
      (info) => read.push(info),
      (error) => errors.push(messageOf(error)),
    );
  if (inputs.example !== "" && read.length > 0) clearAll(state);
  shown.errors = errors;
  if (read.length === 0) return;
  // Drop the guessed config: the next guess uses all tensors.
  if (shown.taken !== null && shown.model === null) inputs.configText = "";
  shown.taken = null;
  // Drop the previous model's config, unless this file brings a new one.
  if (read.some(({ kind }) => kind === "model")) inputs.configText = "";
  for (const file of read) place(state, file);
  inputs.adoptsThresholds = true;
}

/** Loads an example. A link's settings override those of the example. */
export async function loadExample(state: State, run: RunJob, name: string, link: Link): Promise<void> {
  clearAll(state);
  state.shown.busy = "Loading the example";
  const { files, config, options, resize } = await run("loadExample", name);
  for (const file of files) place(state, file);
  state.shown.told = [];
  const { confidenceThreshold = 0.25, iouThreshold = 0.45, ...others } = options;
  Object.assign(state.inputs, {
    example: name,
    configText: link.configText ?? json(config),
    optionsText: link.optionsText ?? (Object.keys(others).length > 0 ? JSON.stringify(others) : ""),
    confidence: link.confidence ?? confidenceThreshold,
    iou: link.iou ?? iouThreshold,
    resize: link.resize ?? resize,
  });
}
