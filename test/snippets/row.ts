import { expect } from "vitest";
import type { Decoder, Detections } from "../../src/entries/index.ts";
import type { Values } from "./given.ts";

/** A block that runs in Node: what it is given, and what has to come of it. */
export interface Row {
  readonly page: string;
  /** Words that tell the block from the others of its page. */
  readonly has: string;
  /** Variables that the page leaves to the reader. `folder` names files of a temporary folder. */
  readonly given?: (folder: (name: string) => string) => Values | Promise<Values>;
  /** Modules besides the package and the files of given.ts. */
  readonly modules?: Readonly<Record<string, unknown>>;
  /** `made`: what the block declares. `printed`: the lines that it logs. */
  readonly check: (made: Values, printed: readonly unknown[][], given: Values) => unknown;
}

export const decoderIn = (made: Values): Decoder => made["decoder"] as Decoder;

/** Expects a list of detections to have these labels. */
export const expectLabels = (found: unknown, ...labels: string[]): void =>
  expect(Array.from(found as Detections, (d) => d.label)).toEqual(labels);
