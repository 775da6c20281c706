/** What is said of tensors that can be read in no way, or in several. */
import { refuse } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { type HeadQuery, namesOf } from "./query.ts";
import type { Interpretation } from "./head.ts";
import { expectedShapes, interpret } from "./interpret.ts";
import { list, type TensorSpec } from "../core/tensor.ts";

/** Of several readings: each of them, and the option that settles it. */
export function tooMany(found: readonly Interpretation[], specs: readonly TensorSpec[]): string {
  const lines = found.map((r) => `  - ${r.about}   (reading: "${r.name}")\n`);
  const names = new Set(found.map((r) => r.name));
  const used = new Set(found.map((r) => r.uses.join()));
  const maps = new Set(found.map((r) => (/grid/.test(r.name) ? [...r.uses].sort().join() : "")));
  const orders = new Set(found.flatMap((r) => r.about.match(/as (\w+)/g) ?? []));
  const settle =
    names.size > 1
      ? `the option reading settles it, for instance reading: "${found[0].name}"`
      : orders.size > 1 && used.size === 1
        ? `the tensor's order settles it: outputs: [{name: "${specs[0].name}", dims, order: "rows" or "planes", "NCHW" or "NHWC"}], or order beside data and dims`
        : maps.size > 1
          ? 'roles settles it: {boxes: ["name", ...]}, and scores where they stand apart'
          : 'roles settles it: {boxes: "name", scores: "name"}';
  return `got ${list(specs)}, which can be read in ${found.length} ways:\n${lines.join("")}${settle}`;
}

/** Numbers of classes, up to a thousand, with which the shapes would be read. */
function otherClasses(q: HeadQuery, specs: readonly TensorSpec[]): number[] {
  const counts = specs.flatMap((s) => s.dims.flatMap((d) => [d, d - 1, d - 4, d - 5, d / 3 - 5, d - 64]));
  return [...new Set(counts)].filter(
    (classes) =>
      Number.isInteger(classes) &&
      classes >= 1 &&
      classes <= 1000 &&
      classes !== q.classes &&
      wouldRead({ ...q, classes }, specs),
  );
}

/** Whether the shapes could be read if the question were this one. What a reading refuses with an error of its own, it would not read. */
function wouldRead(q: HeadQuery, specs: readonly TensorSpec[]): boolean {
  try {
    return interpret(q, specs).length > 0;
  } catch {
    return false;
  }
}

/** Another kind of head that would be read, as of exports under another name: YOLOv5u has the head of YOLOv8. */
function otherFamily(q: HeadQuery, specs: readonly TensorSpec[]): string {
  const fits = (["yolov8", "yolov5", "tflite-postprocess"] as const).find((family) => {
    const traits = TRAITS[family];
    return traits !== q.traits && wouldRead({ ...q, family, traits }, specs);
  });
  return fits ? `; family "${fits}" would read these` : "";
}

/** How many channels stand behind the classes, as exports have them that do more than detect, and how many before. */
function channelsBehind({ classes, traits }: HeadQuery, specs: readonly TensorSpec[]): [number, number] {
  const own = classes + (traits.head === "distance" ? 4 : 5);
  const found = specs.flatMap(({ dims }) => (dims.length === 3 ? Math.min(...dims.slice(1)) - own : []));
  // an angle, coefficients of masks, keypoints of two or three numbers
  const more = found.find((n) => n === 1 || n >= 32 || (n > 0 && n % 3 === 0));
  return [/distance|anchor/.test(traits.head) ? (more ?? 0) : 0, own];
}

/** Of no reading: what the family's tensors look like, and the numbers of classes that these would fit. */
export function nothingFits(q: HeadQuery, why: string, specs: readonly TensorSpec[]): never {
  const { classes: c, reading } = q;
  const batches = new Set(specs.filter((s) => s.dims.length > 2).map((s) => s.dims[0]));
  const same = batches.size > 1 ? "; all with the same batch, the first dimension" : "";
  const of = c ? ` of ${c} ${c === 1 ? "class" : "classes"}` : "";
  const as = reading === null ? "" : ` and reading "${reading}"`;
  const others = same ? [] : otherClasses(q, specs);
  const family = same ? "" : otherFamily(q, specs);
  const [more, own] = channelsBehind(q, specs);
  const behind = more
    ? `; if the last ${more} are an angle, keypoints or masks, which are not decoded: the first ${own} alone`
    : "";
  // as many are hardly classes that were not counted
  const rather =
    more >= 32 || others.length === 0 || others.length > 3
      ? ""
      : `; these shapes would be of ${others.join(" or ")} classes`;
  const lost = namesOf(q.roles).filter((n) => !specs.some((s) => s.name === n));
  const roles = lost.length > 0 ? `; roles name ${lost.join(", ")}, which is none of these` : "";
  refuse(
    "",
    list(specs),
    `for ${q.family} (${why})${of}${as}: ${expectedShapes(q)}${same}${roles}${behind}${family}${rather}`,
  );
}
