/**
 * A plan as a file: everything that a decoder works out from config and shapes, done beforehand, for devices with little room,
 * in JavaScript (`load.ts`) and in C (`embedded/`). `planfile.ts` documents the layout.
 */
import { ABI_VERSION } from "../core/abi.ts";
import { readConfig } from "../config/config.ts";
import type { Config, DecoderOptions } from "../config/types.ts";
import { crc32 } from "../core/crc32.ts";
import { TensorError } from "../core/errors.ts";
import { writeImage } from "../memory/write.ts";
import type { Layout } from "../memory/layout.ts";
import { checkSize, memoryOf } from "../core/memory.ts";
import { numbersOf } from "../core/number.ts";
import * as F from "./format.ts";
import { labelsOf } from "../plan/classes.ts";
import { interpretConfig } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";
import { assemble } from "../decode/assemble.ts";
import { specsOf } from "../heads/query.ts";
import {
  ELEMENTS,
  ORDERS,
  type TensorData,
  type TensorInput,
  type TensorSpec,
  shape,
  specOf,
  volume,
} from "../core/tensor.ts";

export interface CompiledPlan {
  /** The plan file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly plan: Plan;
  readonly layout: Layout;
}

/**
 * The plan file of a config whose output shapes are known, by the config itself or by `options.outputs`.
 * `valuesOf`: values of an output at hand, by name, where boxes rest on one (prior boxes given as a tensor).
 * `scalarOnly`: for C programs alone, whose memory is smaller then; nothing in the file says so, so it has to become C source.
 * @throws ConfigError, TensorError as `createDecoder` would.
 */
export function compilePlan(
  config: unknown,
  options: DecoderOptions = {},
  valuesOf: (name: string) => TensorData | null = () => null,
  scalarOnly = false,
): CompiledPlan {
  const settled = readConfig(config, options);
  const specs = settledSpecs(settled);
  const interpreted = interpretConfig(settled, specs, valuesIn(specs, valuesOf));
  const { plan, layout } = assemble(interpreted, {
    // A host on a device writes whole tensors into the slots.
    gathers: false,
    scalarOnly,
  });
  checkSize(layout.bytes, TensorError);
  const memory = memoryOf(new ArrayBuffer(layout.bytes));
  const whole = { memory, plan, layout };
  writeImage(whole, settled);
  // all that is written beforehand lies before the first slot
  const image = new Uint8Array(memory.buffer, 0, layout.slots[0]);
  return { bytes: fileOf(image, plan, layout, specs, labelsOf(plan, settled.labels) ?? []), plan, layout };
}

/** Values at hand as the numbers they stand for, by the index of their tensor. */
export const valuesIn =
  (specs: readonly TensorSpec[], valuesOf: (name: string) => TensorData | null) =>
  (i: number): ArrayLike<number> | null => {
    const data = valuesOf(specs[i].name);
    // as where it comes with a frame: of another length or type it is refused
    return data && numbersOf(specOf(specs[i].name, { ...specs[i], data } as TensorInput), data);
  };

function settledSpecs(config: Config): TensorSpec[] {
  const { outputs } = config;
  if (outputs === null || outputs.length === 0)
    throw new TensorError(
      "outputs: got none, expected name, shape and type of every output, as the config does not give them",
      { options: [{ option: "outputs" }] },
    );
  const open = outputs.find((o) => o.dims === null);
  if (open !== undefined) throw new TensorError(`outputs: got no shape for "${open.name}", expected one`);
  return specsOf(config) as TensorSpec[];
}

function fileOf(
  image: Uint8Array,
  plan: Plan,
  layout: Layout,
  outputs: readonly TensorSpec[],
  labels: readonly string[],
): Uint8Array<ArrayBuffer> {
  const size = plan.inputSize;
  if (size !== null && !size.every((n) => Number.isInteger(n) && n < 2 ** 31))
    throw new TensorError(`inputSize: got ${size.join("x")}, expected whole pixels`);
  for (const t of plan.tensors)
    if (t.dims.length > F.MAX_RANK)
      throw new TensorError(`${shape(t)}: got ${t.dims.length} dims, expected at most ${F.MAX_RANK}`);

  const text = new TextEncoder();
  const names = plan.tensors.map((t) => cString(text, t.name, "output name"));
  const words = labels.map((l) => cString(text, l, "label"));
  const imageTable = image.length;
  const slotTable = imageTable + layout.imageBlocks.length * F.IMAGE_WORDS * 4;
  const labelTable = slotTable + plan.tensors.length * F.SLOT_WORDS * 4;
  let at = labelTable + labels.length * 4;
  const place = (s: Uint8Array): number => (at += s.length) - s.length;
  const namesAt = names.map(place);
  const wordsAt = words.map(place);
  const length = (at + 3) & ~3;

  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  const put = (offset: number, word: number, value: number): void =>
    view.setUint32(offset + word * 4, value, true);
  bytes.set(image);
  layout.detections.forEach((d, i) => {
    const row = imageTable + i * F.IMAGE_WORDS * 4;
    put(row, F.I_PLAN, layout.imageBlocks[i]);
    put(row, F.I_BOXES, d.boxes);
    put(row, F.I_SCORES, d.scores);
    put(row, F.I_CLASS_IDS, d.classIds);
    put(row, F.I_SOURCES, d.sources);
  });
  plan.tensors.forEach((t, i) => {
    const row = slotTable + i * F.SLOT_WORDS * 4;
    put(row, F.S_ADDRESS, layout.slots[i]);
    put(row, F.S_BYTES, volume(t.dims) * ELEMENTS[t.type].bytes);
    put(row, F.S_TYPE, ELEMENTS[t.type].code);
    view.setFloat32(row + F.S_SCALE * 4, t.scale ?? 1, true);
    view.setFloat32(row + F.S_ZERO * 4, t.zeroPoint, true);
    put(row, F.S_NAME, namesAt[i]);
    put(row, F.S_RANK, t.dims.length);
    t.dims.forEach((n, k) => put(row, F.S_DIM_0 + k, n));
    put(row, F.S_ORDER, ORDERS.indexOf(String(t.order).toLowerCase()) + 1);
    put(
      row,
      F.S_PLACE,
      outputs.findIndex((o) => o.name === t.name),
    );
    put(row, F.S_OUTPUTS, outputs.length);
  });
  names.forEach((s, i) => bytes.set(s, namesAt[i]));
  words.forEach((s, i) => {
    put(labelTable, i, wordsAt[i]);
    bytes.set(s, wordsAt[i]);
  });

  put(0, F.F_MAGIC, F.PLAN_MAGIC);
  put(0, F.F_VERSION, F.PLAN_VERSION);
  put(0, F.F_ABI, ABI_VERSION);
  put(0, F.F_FILE_BYTES, length);
  put(0, F.F_IMAGE_BYTES, image.length);
  put(0, F.F_MEMORY_BYTES, layout.bytes);
  put(0, F.F_IMAGES, layout.imageBlocks.length);
  put(0, F.F_IMAGE_TABLE, imageTable);
  put(0, F.F_SLOTS, plan.tensors.length);
  put(0, F.F_SLOT_TABLE, slotTable);
  put(0, F.F_LABELS, labels.length);
  put(0, F.F_LABEL_TABLE, labelTable);
  put(0, F.F_MAX_DETECTIONS, plan.maxDetections);
  put(0, F.F_INPUT_WIDTH, size?.[0] ?? 0);
  put(0, F.F_INPUT_HEIGHT, size?.[1] ?? 0);
  put(0, F.F_CHECK, crc32(bytes.subarray(F.F_FILE_BYTES * 4)));
  return bytes;
}

/** Bytes of a string and the zero that ends it. */
function cString(text: InstanceType<typeof TextEncoder>, s: string, what: string): Uint8Array {
  if (/\0|\p{Surrogate}/u.test(s))
    throw new TensorError(
      `${what}: got ${JSON.stringify(s)}, expected one without a zero character, which ends a string in C, and without halves of characters`,
    );
  return text.encode(`${s}\0`);
}

/** Words that C and C++ keep for themselves; both compile what is made here. */
const RESERVED = new Set(
  (
    "alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval constexpr constinit continue " +
    "decltype default delete do double else enum explicit export extern false float for friend goto if import inline int long module " +
    "mutable namespace new noexcept not nullptr operator or private protected public register requires restrict return short signed sizeof " +
    "static static_assert struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using " +
    "virtual void volatile while xor"
  ).split(" "),
);

/** Whether a name can stand in C source. */
export const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name);

/** A plan file as C source: an array of words, so that it is aligned, and the numbers a program needs to reserve memory. */
export function cSource(name: string, compiled: CompiledPlan): string {
  if (!isIdentifier(name)) throw new TensorError(`name: got "${name}", expected a C identifier`);
  const { bytes, plan, layout } = compiled;
  const view = new DataView(bytes.buffer);
  const words = Array.from(
    { length: bytes.length / 4 },
    (_, i) =>
      `0x${view
        .getUint32(i * 4, true)
        .toString(16)
        .padStart(8, "0")}u`,
  );
  const lines: string[] = [];
  for (let i = 0; i < words.length; i += 8) lines.push(`    ${words.slice(i, i + 8).join(", ")},`);
  // names come from files, and a comment must not end early
  const comment = (s: string): string => s.replace(/\*\//g, "* /").replace(/[\r\n]+/g, " ");
  return [
    `/* Made by "boxwright compile" for a little-endian processor. ${comment(plan.about)}`,
    ...plan.tensors.map(
      (t, i) =>
        ` * slot ${i}: ${comment(shape(t))} ${t.type}, ${volume(t.dims) * ELEMENTS[t.type].bytes} bytes`,
    ),
    " */",
    "#include <stdint.h>",
    "",
    "enum {",
    `    ${name}_bytes = ${bytes.length},          /* of the plan, read only */`,
    `    ${name}_memory_bytes = ${layout.bytes}, /* of memory to reserve, 16-aligned */`,
    `    ${name}_slots = ${plan.tensors.length},`,
    `    ${name}_images = ${plan.batch}`,
    "};",
    "",
    `static const uint32_t ${name}[${words.length}] = {`,
    ...lines,
    "};",
    "",
  ].join("\n");
}

/**
 * Returns a kernel that has a memory of its own, `pages` pages large and exported, where `from` imports one. Engines
 * that cannot hand a module its memory (wasm3, WAMR) need this form.
 */
export function standaloneKernel(from: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  const out: number[] = [...from.subarray(0, 8)];
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const b = from[at++];
      value |= (b & 127) << shift;
      if (b < 128) return value;
    }
  };
  const section = (id: number, body: readonly number[]): void =>
    void out.push(id, ...leb(body.length), ...body);
  let placed = false;
  while (at < from.length) {
    const id = from[at++];
    const end = number() + at;
    // sections come in the order of their numbers, and that of a memory of one's own is 5
    if (!placed && id > 5) {
      section(5, [1, 1, ...leb(pages), ...leb(pages)]);
      placed = true;
    }
    if (id === 2) {
      const count = number();
      if (count !== 1) throw new Error(`kernel: got ${count} imports, expected one, the memory`);
    } else if (id === 7) {
      const count = number();
      section(7, [
        ...leb(count + 1),
        ...from.subarray(at, end),
        6,
        ...new TextEncoder().encode("memory"),
        2,
        0,
      ]);
    } else section(id, [...from.subarray(at, end)]);
    at = end;
  }
  return Uint8Array.from(out);
}

function leb(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    out.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return out;
}
