/** The values that a decoder is made of, besides boxes. `boxwright` has all; `boxwright/core` those that are passed. */
import { ConfigError, mismatch } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { Explain } from "../plan/explain.ts";
import type { Checks } from "./checks.ts";
import type { DecoderTask } from "./tasks.ts";

export interface Parts {
  readonly tasks: readonly DecoderTask[];
  /** The checks for wrong input; null for none. */
  readonly checks: Checks | null;
  /** The function that explains why tensors do not fit; null: the error only says that they do not. */
  readonly explain: Explain | null;
}

/** Throws a ConfigError if a value that a caller passed is not the one of that name. `has`: a member of it. */
export function checkPart(name: "checks" | "explain", part: unknown, has: string): void {
  if (part === undefined || typeof (part as { readonly [key: string]: unknown } | null)?.[has] === "function")
    return;
  const expected = `the value ${name} of boxwright/core`;
  throw new ConfigError([{ path: `options.${name}`, message: mismatch(show(part), expected) }]);
}
