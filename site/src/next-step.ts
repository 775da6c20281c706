/** The visitor's next step, in words. */
import type { State } from "./state.ts";

const TENSORS = "the network's output tensors (.npy, .npz, .safetensors)";

/** Returns what is still needed to decode; empty if nothing is. */
export function nextStep({ inputs, shown }: Pick<State, "inputs" | "shown">): string {
  if (shown.tensors.length > 0) return "";
  if (shown.model !== null) {
    if (shown.model.format !== "onnx") return `${shown.model.name} is read. Drop ${TENSORS} too.`;
    return shown.photo === null
      ? `${shown.model.name} is read. Drop a photo too, or use the camera, and the network runs.`
      : "";
  }
  if (shown.photo !== null) return `The photo is read. Drop a network too: a model (.onnx), or ${TENSORS}.`;
  if (inputs.configText.trim() !== "")
    return `The config is read. Drop a model (.onnx) with a photo, or ${TENSORS}.`;
  return "";
}

/** True without files and texts: the page then shows what can be dropped. */
export const isEmpty = ({ inputs, shown }: Pick<State, "inputs" | "shown">): boolean =>
  shown.tensors.length === 0 &&
  shown.model === null &&
  shown.photo === null &&
  inputs.configText.trim() === "" &&
  inputs.optionsText.trim() === "";

/** Usual values of options that model files never contain. */
const USUAL: Readonly<Record<string, { readonly value: unknown; readonly about: string }>> = {
  variances: { value: [0.1, 0.2], about: "the variances of SSD, which nearly every export has" },
};

/** An option that a model needs, with its usual value. */
export interface UsualOption {
  readonly name: string;
  readonly value: unknown;
  readonly about: string;
}

/** Returns the options that the model needs, that are not given, and that have a usual value. */
export function usualOptions({ shown, options }: Pick<State, "shown" | "options">): readonly UsualOption[] {
  const paths = (shown.model?.missing ?? []).map(({ path }) => path);
  const needed = [
    ...paths,
    ...shown.possibilities.flatMap(({ missing }) => missing.map((text) => text.split(":")[0])),
  ];
  return Object.entries(USUAL)
    .filter(([name]) => needed.some((path) => path === name || path.endsWith(`.${name}`)))
    .filter(([name]) => !(name in options.value))
    .map(([name, usual]) => ({ name, ...usual }));
}

/** Lists of names by class count. */
const NAMES: Readonly<Record<number, string>> = { 80: "coco80", 90: "coco91", 91: "coco91" };

/** Returns the list of names for a network without names; null if the network has names, or no list fits. */
export function fittingNames({ shown }: Pick<State, "shown">): string | null {
  const { opened } = shown;
  return opened === null || opened.isNamed || opened.classes === null
    ? null
    : (NAMES[opened.classes] ?? null);
}
