/** Writes the outcome of a config and shapes as text: the plan and its notes, or the refusal and its hints. */
import { createHash } from "node:crypto";
import type { Plan } from "../../src/plan/plan.ts";

/** Outcome of a config. `meaning`: the plan without its words, or "refused". `words`: those words, or the error. */
export interface Outcome {
  readonly meaning: string;
  readonly words: string;
}

const hash = (text: string | Uint8Array, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** Replaces long arrays by their digests, and regular expressions by their sources. */
export const plain = (_: string, value: unknown): unknown =>
  ArrayBuffer.isView(value)
    ? hash(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), 12)
    : value instanceof RegExp
      ? value.source
      : value;

/** Calls a function that makes a plan, and returns the outcome. */
export function outcomeWith(make: () => Plan): Outcome {
  try {
    const { about, notes, task, heads, ...plan } = make();
    const meaning = {
      ...plan,
      heads: heads.map(({ about: _, ...head }) => head),
      task: task && { ...task, about: undefined },
    };
    return {
      meaning: JSON.stringify(meaning, plain),
      words: [about, task?.about, ...heads.map((head) => head.about), ...notes].join("\n"),
    };
  } catch (error) {
    const { message, options } = error as Error & { options?: unknown };
    return { meaning: "refused", words: `${message}\n${JSON.stringify(options)}` };
  }
}

/** Returns a digest of an outcome: five digits of its meaning, three of its words. */
export const digestOf = ({ meaning, words }: Outcome): string => hash(meaning, 5) + hash(words, 3);
