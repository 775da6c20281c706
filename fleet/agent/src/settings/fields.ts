/** Reads fields of unknown JSON. Collects problems, so that one error lists all of them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "boxwright-service/errors";
import { meantBy, nearest } from "boxwright-service/names";
import type { Problem } from "../core/errors.ts";

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a value as text for an error. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

const MOST_NAME = 512;

/** Reads the fields of one object of the settings. */
export class Fields {
  readonly #json: Json;
  readonly #path: string;
  readonly #problems: Problem[];
  readonly #folder: string;
  readonly #read = new Set<string>();

  /**
   * @param path of the object in the file, "" for the whole file
   * @param folder for resolving relative paths in the file
   */
  constructor(json: unknown, path: string, problems: Problem[], folder: string) {
    this.#path = path;
    this.#problems = problems;
    this.#folder = folder;
    this.#json = isObject(json) ? json : {};
    if (!isObject(json)) this.#note("", `got ${show(json)}, expected an object`);
  }

  /** Adds a problem with a field. */
  problem(key: string, message: string): void {
    this.#note(key, message);
  }

  has(key: string): boolean {
    return this.#json[key] !== undefined && this.#json[key] !== null;
  }

  value(key: string): unknown {
    this.#read.add(key);
    return this.#json[key] ?? undefined;
  }

  /** Reads a name that each packet carries. Hosts accept at most 512 bytes. */
  name(key: string, fallback?: string): string {
    const text = this.text(key, fallback);
    const length = Buffer.byteLength(text);
    if (length > MOST_NAME) this.#note(key, `got ${length} bytes, expected at most ${MOST_NAME}`);
    return text;
  }

  /** Reads a text of 1 to 1024 characters without control characters, since packets carry the text in a header. */
  text(key: string, fallback?: string): string {
    const value = this.value(key) ?? fallback;
    if (typeof value === "string" && /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}$/u.test(value)) return value;
    this.#note(key, `got ${show(value)}, expected text of 1 to 1024 characters, without control characters`);
    return "";
  }

  optionalText(key: string): string | null {
    return this.has(key) ? this.text(key) : (this.#read.add(key), null);
  }

  path(key: string, fallback?: string): string {
    return resolve(this.#folder, this.text(key, fallback));
  }

  optionalPath(key: string): string | null {
    return this.has(key) ? this.path(key) : (this.#read.add(key), null);
  }

  /** Reads a secret, either directly or from a separate file, so that the settings file need not contain the secret. */
  secret(key: string, fileKey: string): string | null {
    const secret = this.optionalText(key);
    const path = this.optionalPath(fileKey);
    if (path === null) return secret;
    if (secret !== null) this.#note(fileKey, `stands beside ${key}, expected one of them`);
    try {
      return readFileSync(path, "utf8").trim() || null;
    } catch (error) {
      this.#note(fileKey, `cannot be read (${messageOf(error)})`);
      return null;
    }
  }

  number(key: string, [least, most]: readonly [number, number], fallback: number, isWhole = true): number {
    const value = this.value(key) ?? fallback;
    if (typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isInteger(value)))
      return value;
    const kind = isWhole ? "a whole number" : "a number";
    this.#note(key, `got ${show(value)}, expected ${kind} from ${least} to ${most}`);
    return fallback;
  }

  optionalNumber(key: string, range: readonly [number, number], isWhole = true): number | null {
    if (this.has(key)) return this.number(key, range, range[0], isWhole);
    this.#read.add(key);
    return null;
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.value(key) ?? fallback;
    if (typeof value === "boolean") return value;
    this.#note(key, `got ${show(value)}, expected true or false`);
    return fallback;
  }

  choice<const C extends string>(key: string, choices: readonly C[], fallback?: C): C {
    const value = this.value(key) ?? fallback;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const meant = typeof value === "string" ? nearest(value, choices) : undefined;
    const expected = `, expected ${choices.map((choice) => `"${choice}"`).join(", ")}`;
    this.#note(key, `got ${show(value)}${meant === undefined ? expected : `. Did you mean "${meant}"?`}`);
    return fallback ?? choices[0]!;
  }

  /** Reads a choice that decides which other fields exist. Returns null for an unknown value. */
  kind<const C extends string>(key: string, choices: readonly C[]): C | null {
    const kind = this.choice(key, choices);
    if (this.#json[key] === kind) return kind;
    for (const other of Object.keys(this.#json)) this.#read.add(other);
    return null;
  }

  /** Returns a reader of a nested object. A missing object is read as an empty one. */
  object(key: string): Fields {
    return this.inside(key, this.value(key) ?? {});
  }

  /** Returns a reader for each object of a list. An empty list is a problem. */
  list(key: string): readonly Fields[] {
    const value = this.value(key);
    if (Array.isArray(value) && value.length > 0)
      return value.map((item: unknown, i) => this.inside(`${key}[${i}]`, item));
    this.#note(key, `got ${show(value)}, expected a list of at least one`);
    return [];
  }

  inside(key: string, json: unknown): Fields {
    return new Fields(json, this.#where(key), this.#problems, this.#folder);
  }

  /** Adds a problem for each unread field, since a misspelt name would otherwise be ignored silently. */
  end(): void {
    for (const key of Object.keys(this.#json))
      if (!this.#read.has(key)) this.#note(key, `is not known here${meantBy(key, [...this.#read].sort())}`);
  }

  #where(key: string): string {
    return this.#path && key ? `${this.#path}.${key}` : this.#path || key;
  }

  #note(key: string, message: string): void {
    this.#problems.push({ path: this.#where(key) || "settings", message });
  }
}
