/** Reads a backup, and checks the whole file. */
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { UserError } from "../core/errors.ts";
import { isObject } from "boxwright-service/schema/json";
import { schemaVersion } from "../database/migrations.ts";
import { FORMAT, tables, type Row, type Table } from "./format.ts";

export interface Line {
  readonly table: Table;
  readonly row: Row;
}

export interface Backup {
  /** Time at which the backup was made, in milliseconds since 1970. */
  readonly taken: number;
  readonly lines: readonly Line[];
}

export async function readBackup(file: string): Promise<Backup> {
  const source = createReadStream(file);
  const unzipped = source.pipe(createGunzip());
  source.on("error", (error) => unzipped.destroy(error));
  try {
    return await readLines(linesOf(unzipped));
  } catch (error) {
    throw new UserError(`backup ${file}: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

/** Splits text into lines. With readline, an error after the last line would end the process. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

async function readLines(texts: AsyncIterable<string>): Promise<Backup> {
  const lines: Line[] = [];
  let taken: number | undefined;
  let end: Record<string, unknown> | undefined;
  let lineNumber = 0;
  for await (const text of texts) {
    lineNumber++;
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) throw new Error(`line ${lineNumber}: got ${text.slice(0, 40)}, expected a JSON object`);
    if (taken === undefined) taken = readHead(value);
    else if (value["end"] === true) end = value;
    else lines.push(readRow(value, lineNumber));
  }
  if (taken !== undefined && end?.["rows"] === lines.length) return { taken, lines };
  const last = end === undefined ? "no last line" : `a last line for ${String(end["rows"])}`;
  throw new Error(`got ${lines.length} rows and ${last}, expected a complete file`);
}

/** Checks the first line. Returns the time at which the backup was made. */
function readHead({ format, schema, at }: Record<string, unknown>): number {
  if (format !== FORMAT) throw new Error(`got format ${JSON.stringify(format)}, expected ${FORMAT}`);
  if (typeof schema !== "number" || schema < 1 || schema > schemaVersion) {
    const expected = `expected at most ${schemaVersion}: restore with the hub that made it`;
    throw new Error(`got schema version ${JSON.stringify(schema)}, ${expected}`);
  }
  if (typeof at !== "number" || Number.isNaN(new Date(at).getTime()))
    throw new Error(`at: got ${JSON.stringify(at)}, expected a time in milliseconds`);
  return at;
}

function readRow({ table: name, row }: Record<string, unknown>, lineNumber: number): Line {
  const table = tables.find((candidate) => candidate.name === name);
  if (table !== undefined && isObject(row)) return { table, row: row as Row };
  const names = tables.map((candidate) => candidate.name).join(", ");
  throw new Error(`line ${lineNumber}: got table ${JSON.stringify(name)}, expected a row of one of ${names}`);
}
