/**
 * Content of an application's version (config, options, model and rules for snaps), and functions that read this
 * content from people's input.
 */
import { createHash } from "node:crypto";
import { isObject, show } from "boxwright-service/schema/json";
import type { SnapRule } from "boxwright-service/schema/protocol";
import type { SignedRelease } from "boxwright-service/release";
import { UserError } from "../core/errors.ts";

export interface AppContent {
  /**
   * NN_config, nn_config or an NN Archive's config.json. Null: the model file itself states how to decode its outputs.
   */
  readonly config: Readonly<Record<string, unknown>> | null;
  /** Options of `createDetector`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Null: the version names no model file. An agent refuses such a version. */
  readonly model: { readonly sha256: string; readonly size: number; readonly name: string } | null;
  readonly snaps: readonly SnapRule[];
  /** Release of the agent. Absent in a version of a network. */
  readonly release?: SignedRelease;
}

/** A version as a person wrote it. The draft names its model file only by the hash. */
export interface AppDraft extends Omit<AppContent, "model" | "release"> {
  readonly modelSha256: string | null;
}

/** Largest number of characters of config and options together. The labels of 1,000 classes take 20,000. */
export const MAX_CONTENT = 128 * 1024;
const MAX_RULES = 20;
const MAX_PER_HOUR = 3600;

/** Collects problems, so that one error lists all of them. */
class Problems {
  readonly lines: string[] = [];

  /** Returns the result of `read`. If `read` throws, records the problem and returns undefined. */
  try<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.lines.push((error as Error).message);
      return undefined;
    }
  }
}

/**
 * Reads a draft. `config`, `options` and `snaps` are JSON, either as text or parsed.
 * @throws UserError that lists every problem
 */
export function readDraft(given: {
  readonly config: unknown;
  readonly options: unknown;
  readonly snaps: unknown;
  readonly modelSha256: unknown;
}): AppDraft {
  const problems = new Problems();
  const config = problems.try(() => readObject("config", given.config));
  const options = problems.try(() => readObject("options", given.options) ?? {});
  const snaps = problems.try(() => readRules(given.snaps));
  const modelSha256 = problems.try(() => readHash(given.modelSha256));
  if (JSON.stringify([config, options]).length > MAX_CONTENT)
    problems.lines.push(`config and options: got more than ${MAX_CONTENT} characters, expected less`);
  if (problems.lines.length > 0) throw new UserError(problems.lines.join("\n"));
  return { config: config!, options: options!, snaps: snaps!, modelSha256: modelSha256! };
}

/** Parses a text as JSON. Undefined, null and an empty text become null. Returns other values unchanged. */
function parse(name: string, given: unknown): unknown {
  if (given === undefined || given === null) return null;
  if (typeof given !== "string") return given;
  if (given.trim() === "") return null;
  try {
    return JSON.parse(given) as unknown;
  } catch (error) {
    throw new Error(`${name}: got text that is not JSON (${(error as Error).message}), expected a JSON object`);
  }
}

function readObject(name: string, given: unknown): Record<string, unknown> | null {
  const value = parse(name, given);
  if (value === null || isObject(value)) return value;
  throw new Error(`${name}: got ${show(value).slice(0, 40)}, expected a JSON object`);
}

function readHash(given: unknown): string | null {
  if (given === undefined || given === null || given === "") return null;
  if (typeof given === "string" && /^[0-9a-f]{64}$/.test(given)) return given;
  throw new Error(`model: got ${show(given).slice(0, 80)}, expected a SHA-256 in 64 hexadecimal digits`);
}

function readRules(given: unknown): SnapRule[] {
  const list = parse("snaps", given) ?? [];
  if (!Array.isArray(list) || list.length > MAX_RULES)
    throw new Error(`snaps: got ${show(list).slice(0, 40)}, expected a list of at most ${MAX_RULES} rules`);
  return list.map(readRule);
}

/** Fields of a rule for snaps. `class` is optional. */
const RULE_FIELDS = ["name", "class", "min_confidence", "per_hour"];

function readRule(given: unknown, index: number): SnapRule {
  const at = `snaps[${index}]`;
  if (!isObject(given)) throw new Error(`${at}: got ${show(given).slice(0, 40)}, expected ${RULE_FIELDS.join(", ")}`);
  const unknown = Object.keys(given).find((name) => !RULE_FIELDS.includes(name));
  if (unknown !== undefined) throw new Error(`${at}: got ${show(unknown)}, expected ${RULE_FIELDS.join(", ")}`);
  const { name, class: label, min_confidence, per_hour } = given;
  const wrong = (field: string, value: unknown, expected: string): Error =>
    new Error(`${at}.${field}: got ${show(value)?.slice(0, 80)}, expected ${expected}`);
  if (typeof name !== "string" || !isSnapName(name)) throw wrong("name", name, "a text of 1 to 56 characters");
  if (label !== undefined && label !== null && (typeof label !== "string" || label === "" || label.length > 100))
    throw wrong("class", label, "a label of the network, or none");
  if (typeof min_confidence !== "number" || !(min_confidence >= 0 && min_confidence <= 1))
    throw wrong("min_confidence", min_confidence, "a number from 0 to 1");
  if (!Number.isInteger(per_hour) || (per_hour as number) < 1 || (per_hour as number) > MAX_PER_HOUR)
    throw wrong("per_hour", per_hour, `a whole number from 1 to ${MAX_PER_HOUR}`);
  const rule = { name, min_confidence, per_hour: per_hour as number };
  return typeof label === "string" ? { ...rule, class: label } : rule;
}

/** True for a text that can name a snap. */
export function isSnapName(text: string): boolean {
  return text.length >= 1 && text.length <= 56 && !/[\u0000-\u001f\u007f]/.test(text);
}

/** Returns JSON with sorted keys, so that equal content gives the same text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`)
    .join(",")}}`;
}

/** Returns the SHA-256 of a version's content in hexadecimal digits. The model file's name is not part of the hash. */
export function contentHash({ config, options, model, snaps, release }: AppContent): string {
  const text = canonicalJson({ config, options, model: model?.sha256 ?? null, snaps, release });
  return createHash("sha256").update(text).digest("hex");
}
