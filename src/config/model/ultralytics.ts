/** Reads the metadata of Ultralytics' exports: in ONNX, and in the zip that follows a TFLite file. */
import { type Task, ULTRALYTICS_TASKS } from "../../core/exporters.ts";
import { refuseFile } from "./bytes.ts";
import { type Literal, readLiteral } from "./literal.ts";

/** Largest accepted class count. */
const MAX_CLASSES = 100_000;

export interface UltralyticsMetadata {
  readonly names: readonly string[];
  /** Name of the task in the file. `null` if the file states none, as files of YOLOv5's own exporter. */
  readonly taskName: string | null;
  /** Task of the network. `null` if boxwright does not know the task. */
  readonly task: Task | null;
  /** [width, height] in pixels. */
  readonly inputSize: readonly [number, number] | null;
  readonly stride: number | null;
  readonly endToEnd: boolean | null;
  readonly keypoints: readonly [number, number] | null;
  /** Names of the keypoints. `null` if the file states none, or different names for each class. */
  readonly keypointNames: readonly string[] | null;
}

/** Reads Ultralytics' metadata. `null` if their keys are absent. Throws a ConfigError for damaged metadata. */
export function readUltralytics(metadata: { readonly [key: string]: string }): UltralyticsMetadata | null {
  if (metadata["names"] === undefined || metadata["stride"] === undefined) return null;
  const value = (key: string): Literal | undefined => readLiteral(metadata[key] ?? "");
  // The file states [height, width].
  const size = pairOf(value("imgsz"));
  const side = Number(metadata["imgsz"]);
  const stride = Number(metadata["stride"]);
  const taskName = metadata["task"] ?? null;
  const keypoints = pairOf(value("kpt_shape"));
  return {
    names: namesOf(value("names")),
    taskName,
    task:
      taskName === null
        ? "detect"
        : Object.hasOwn(ULTRALYTICS_TASKS, taskName)
          ? ULTRALYTICS_TASKS[taskName]
          : null,
    inputSize: size ? [size[1], size[0]] : isCount(side) ? [side, side] : null,
    stride: isCount(stride) ? stride : null,
    endToEnd: endToEndOf(value("end2end"), value("args")),
    keypoints,
    keypointNames: keypoints && keypointNamesOf(value("kpt_names"), keypoints[0]),
  };
}

const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) > 0;

function pairOf(value: Literal | undefined): readonly [number, number] | null {
  const isPair = Array.isArray(value) && value.length === 2 && value.every(isCount);
  return isPair ? (value as unknown as readonly [number, number]) : null;
}

/** Returns the keypoint names, which the file lists for each class. Returns `null` unless all lists are equal. */
function keypointNamesOf(value: Literal | undefined, count: number): readonly string[] | null {
  const lists: readonly Literal[] = typeof value === "object" && value !== null ? Object.values(value) : [];
  const [first] = lists;
  const areNames =
    Array.isArray(first) && first.length === count && first.every((x) => typeof x === "string");
  return areNames && lists.every((list) => String(list) === String(first)) ? (first as string[]) : null;
}

/** True if the network outputs no duplicate boxes, by design or by suppression in the graph. `null`: unknown. */
function endToEndOf(stated: Literal | undefined, args: Literal | undefined): boolean | null {
  const isDict = typeof args === "object" && args !== null && !Array.isArray(args);
  const suppresses = isDict ? (args as { readonly [key: string]: Literal })["nms"] : undefined;
  if (stated === true || suppresses === true) return true;
  return stated === false || suppresses === false ? false : null;
}

function namesOf(value: Literal | undefined): string[] {
  const ids = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const names = ids.map((id) => (value as { readonly [id: string]: Literal })[id]);
  const isWhole = names.length <= MAX_CLASSES && ids.every((id, i) => Number(id) === i);
  if (
    names.length === 0 ||
    !isWhole ||
    !names.every((name) => typeof name === "string" || typeof name === "number")
  )
    refuseFile(
      "metadata.names",
      `${names.length} names that are not a name for each class id from 0`,
      "such names",
    );
  return names.map(String);
}
