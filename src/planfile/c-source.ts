/** Writes a plan file as C source. */
import { refuse } from "../core/errors.ts";
import { ELEMENTS, shape, show, volume } from "../core/tensor.ts";
import type { CompiledPlan } from "./write.ts";

/** Keywords of C and C++, since compilers of both languages must accept the source. */
const RESERVED = new Set(
  (
    "alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const " +
    "consteval constexpr constinit " +
    "continue decltype default delete do double else enum explicit export extern false float for " +
    "friend goto if import inline int " +
    "long module mutable namespace new noexcept not nullptr operator or private protected public " +
    "register requires restrict return " +
    "short signed sizeof static static_assert struct switch template this thread_local throw true try typedef typeid typename " +
    "typeof union unsigned using virtual void volatile while xor"
  ).split(" "),
);

/** True if a name can be declared in C and C++. */
export const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name);

/** Count of array words per line of source. */
const WORDS_IN_LINE = 8;

/**
 * Returns a plan file as C source: an aligned array of words, and the sizes of the memory that a program must reserve.
 * @throws TensorError if `name` is not an identifier
 */
export function cSource(name: string, compiled: CompiledPlan): string {
  if (!isIdentifier(name)) refuse("name", show(name), "a C identifier");
  const { bytes, plan, layout } = compiled;
  const words = hexWords(bytes);
  const lines: string[] = [];
  for (let i = 0; i < words.length; i += WORDS_IN_LINE)
    lines.push(`    ${words.slice(i, i + WORDS_IN_LINE).join(", ")},`);
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

function hexWords(bytes: Uint8Array<ArrayBuffer>): string[] {
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 4 }, (_, i) => {
    const word = view.getUint32(i * 4, true);
    return `0x${word.toString(16).padStart(8, "0")}u`;
  });
}

/** Returns the text in a form that cannot end a C comment: it contains tensor names, which come from files. */
const comment = (text: string): string => text.replace(/\*\//g, "* /").replace(/[\r\n]+/g, " ");
