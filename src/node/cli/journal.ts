/** Results of a run on their way to a file, kept so that a run that was stopped goes on where it was. */
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { TensorError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import { systemReason } from "../files/load.ts";
import { type Format, type ImageResult, formatter } from "./results.ts";

/**
 * Writes results beside the file that they are for, one line each as they come. `finish` makes the file of them. Only
 * whole lines count, so a run may be stopped at any time.
 */
export class Journal {
  readonly #out: string;
  readonly #partial: string;
  readonly #results = new Map<string, ImageResult>();

  private constructor(out: string) {
    this.#out = out;
    this.#partial = `${out}.partial`;
  }

  /** Begins a run, or goes on with the one that was stopped. */
  static async open(out: string, resumes: boolean): Promise<Journal> {
    const journal = new Journal(out);
    if (resumes) await journal.#read();
    // Write anew: the last line may have been cut, and the file has to be one that can be written.
    await journal.#guard(writeFile(journal.#partial, [...journal.#results.values()].map(lineOf).join("")));
    return journal;
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#partial, "utf8").catch(() => "");
    for (const line of text.split("\n").slice(0, -1)) {
      const result = parse(line);
      if (result === null)
        throw new TensorError(
          `${this.#partial}: got a line that is no result, expected what a run of this command left. Remove the file, or leave out --resume.`,
        );
      this.#results.set(result.image, result);
    }
  }

  /** True if the image was done before. */
  has(image: string): boolean {
    return this.#results.has(image);
  }

  async add(result: ImageResult): Promise<void> {
    this.#results.set(result.image, result);
    await this.#guard(appendFile(this.#partial, lineOf(result)));
  }

  /** Writes the file. If some images failed, what was done stays for another run. */
  async finish(format: Format, labels: readonly string[] | null, isWhole: boolean): Promise<void> {
    const { begin, of, end } = formatter(format, labels);
    const body = [...this.#results.values()].map(of).join("");
    await this.#guard(writeFile(this.#out, begin + body + end));
    if (isWhole) await rm(this.#partial, { force: true });
  }

  async #guard(write: Promise<void>): Promise<void> {
    await write.catch((e: NodeJS.ErrnoException) => {
      throw new TensorError(`--out: ${this.#out} cannot be written: ${systemReason(e)}.`);
    });
  }
}

const lineOf = (result: ImageResult): string => `${JSON.stringify(result)}\n`;

function parse(line: string): ImageResult | null {
  try {
    const json: unknown = JSON.parse(line);
    return isRecord(json) && typeof json["image"] === "string" && Array.isArray(json["detections"])
      ? (json as unknown as ImageResult)
      : null;
  } catch {
    return null;
  }
}
