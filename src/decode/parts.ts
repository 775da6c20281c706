/** The parts of a decoder besides boxes. `boxwright` passes all, `boxwright/core` those that its caller chose. */
import { refuseConfig } from "../core/errors.ts";
import { show } from "../core/tensor.ts";
import type { Explain } from "../plan/explain.ts";
import type { Checks } from "./checks.ts";
import type { DecoderTask } from "./tasks.ts";

export interface Parts {
  readonly tasks: readonly DecoderTask[];
  /** The checks for wrong input. Null if the caller passed none. */
  readonly checks: Checks | null;
  /** Function that explains why tensors do not fit. Null: errors do not say why. */
  readonly explain: Explain | null;
}

/**
 * Throws a ConfigError if `part` is given, but is not the value `name` of `boxwright/core`.
 * @param has name of a method of that value
 */
export function checkPart(name: "checks" | "explain", part: unknown, has: string): void {
  if (part === undefined || typeof (part as { readonly [key: string]: unknown } | null)?.[has] === "function")
    return;
  refuseConfig(`options.${name}`, show(part), `the value ${name} of boxwright/core`);
}
