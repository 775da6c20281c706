/** A journal stores the results of a run in a file while the run continues, so that a stopped run can be resumed. */
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { TensorError, mismatch } from "../../core/errors.ts";
import { isRecord, parseJson } from "../../core/json.ts";
import { systemReason } from "../files/load.ts";
import { type Format, type ImageResult, formatter } from "./results.ts";

/** All settings that affect the results of a run, by name, as text. */
export type Settings = Readonly<Record<string, string | null>>;

/** A line of the journal: the result of an image, and the `stamp` of the image's file before it was read. */
type Entry = ImageResult & { readonly stamp?: string | null };

/** Writes results, one line each, to OUT.partial, from which `finish` makes OUT. So a run may stop at any time. */
export class Journal {
  readonly #out: string;
  readonly #partial: string;
  readonly #settings: Settings;
  readonly #results = new Map<string, Entry>();

  private constructor(out: string, settings: Settings) {
    this.#out = out;
    this.#partial = `${out}.partial`;
    this.#settings = settings;
  }

  /** Begins or resumes a run. Throws if a resumed run has other settings, or a new run would overwrite results. */
  static async open(out: string, settings: Settings, resumes: boolean): Promise<Journal> {
    const journal = new Journal(out, settings);
    if (resumes) await journal.#read();
    else await journal.#checkEmpty();
    // Rewrite the journal, since its last line may be incomplete. This also checks that the file can be written.
    const lines = [lineOf({ settings }), ...[...journal.#results.values()].map(lineOf)];
    await journal.#guard(writeFile(journal.#partial, lines.join("")));
    return journal;
  }

  /** Throws if the journal has results of a stopped run. */
  async #checkEmpty(): Promise<void> {
    const text = await readFile(this.#partial, "utf8").catch(() => "");
    const count = text
      .split("\n")
      .map((line) => parseJson(line))
      .filter(isResult).length;
    if (count > 0)
      throw new TensorError(
        `${this.#partial}: got ${count} ${count === 1 ? "result" : "results"} of a run that was stopped ` +
          "or failed in part. Add --resume to go on with it, or remove the file to start over.",
      );
  }

  /** Reads the settings from the first line, and one result from each other line. Ignores an incomplete last line. */
  async #read(): Promise<void> {
    const text = await readFile(this.#partial, "utf8").catch(() => "");
    const [first, ...lines] = text
      .split("\n")
      .slice(0, -1)
      .map((line) => parseJson(line));
    if (first === undefined) return;
    this.#checkSettings(first);
    for (const line of lines) {
      // Skip a damaged line, for instance from a full disk. The photo of that line is run again.
      if (line === undefined) continue;
      if (!isResult(line)) throw this.#refusal("a line that is no result", "what a run of this command left");
      this.#results.set(line.image, line);
    }
  }

  #checkSettings(first: unknown): void {
    const found = isRecord(first) && isRecord(first["settings"]) ? first["settings"] : null;
    if (found === null)
      throw this.#refusal("a line that is no result", "the settings of the run in the first line");
    const others = Object.keys(this.#settings).filter(
      (name) => (found[name] ?? null) !== this.#settings[name],
    );
    if (others.length > 0)
      throw this.#refusal(`results of a run with another ${others.join(", ")}`, "those of the same settings");
  }

  #refusal(got: string, expected: string): TensorError {
    return new TensorError(`${this.#partial}: ${mismatch(got, expected)}. Remove the file to start over.`);
  }

  has(image: string): boolean {
    return this.#results.has(image);
  }

  /** Removes the result of an image whose file has changed, and returns true. `stamp`: null if the file is gone. */
  forgetReplaced(image: string, stamp: string | null): boolean {
    const entry = this.#results.get(image);
    return entry !== undefined && stamp !== null && entry.stamp !== stamp && this.#results.delete(image);
  }

  async add(result: ImageResult, stamp: string | null): Promise<void> {
    const entry: Entry = { ...result, stamp };
    await this.#guard(appendFile(this.#partial, lineOf(entry)));
    this.#results.set(result.image, entry);
  }

  /** Writes the output. If some images failed, keeps the journal for another run. */
  async finish(format: Format, labels: readonly string[] | null, isWhole: boolean): Promise<void> {
    const { begin, of, end } = formatter(format, labels, [...this.#results.keys()]);
    const results = [...this.#results.values()].map(({ stamp: _, ...result }) => result);
    const body = results.map(of).join("");
    await this.#guard(writeFile(this.#out, begin + body + end));
    if (isWhole) await rm(this.#partial, { force: true });
  }

  async #guard(write: Promise<void>): Promise<void> {
    await write.catch((e: NodeJS.ErrnoException) => {
      throw new TensorError(`--out: ${this.#out} cannot be written: ${systemReason(e)}.`);
    });
  }
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

const isResult = (json: unknown): json is Entry =>
  isRecord(json) && typeof json["image"] === "string" && Array.isArray(json["detections"]);
