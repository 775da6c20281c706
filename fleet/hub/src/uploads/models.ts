/**
 * Uploads of model files by people and backends, resumable, in one or several requests.
 *
 *     HEAD .../models/{sha256}           200 with Upload-Offset and Upload-Complete, or 404: start at 0
 *     PUT  .../models/{sha256}?name=...  Upload-Offset: offset of the sent bytes, Upload-Length: size of the whole file
 *                                        201: the file is complete. 202: continue at the answer's Upload-Offset.
 *                                        409: the offset was wrong, continue at the answer's Upload-Offset. A 409 with
 *                                        Retry-After: another request is sending the file
 */
import { UserError } from "../core/errors.ts";
import { isSha256, type FilePlace } from "../files/files.ts";
import { admitBody, fileBody } from "../http/body-room.ts";
import { type Exchange, JSON_TYPE } from "boxwright-service/http/exchange";
import { refuse, refuseMethod } from "../http/refusals.ts";
import type { Services } from "../http/services.ts";
import { beginModel, completeModel, findModel, forgetModel, type ModelFile } from "../nouns/model.ts";

export interface Sender {
  readonly teamId: string;
  /** Actor for the audit. */
  readonly actor: string;
}

const NUMBER = /^\d{1,15}$/;

/** Answers HEAD and PUT of a model file, for a sender who is already authenticated. */
export async function handleModel(
  services: Services,
  exchange: Exchange,
  sender: Sender,
  sha256: string,
): Promise<void> {
  if (!isSha256(sha256)) return refuse(exchange, "not_found", ", expected a SHA-256 of 64 hexadecimal digits");
  if (exchange.method === "HEAD" || exchange.method === "GET") return sendOffset(services, exchange, sender, sha256);
  if (exchange.method !== "PUT") return refuseMethod(exchange, "HEAD, PUT");
  try {
    await putModel(services, exchange, sender, sha256);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    refuse(exchange, error.status === 413 ? "too_large" : "invalid_upload", `: ${error.message}`);
  }
}

async function sendOffset(
  { db, files }: Services,
  exchange: Exchange,
  { teamId }: Sender,
  sha256: string,
): Promise<void> {
  const file = await findModel(db, teamId, sha256);
  if (file === undefined) return refuse(exchange, "not_found", ", expected a model file of the team");
  const place: FilePlace = { team: teamId, kind: "models", sha256 };
  const isComplete = file.complete_at !== null && (await files.size(place)) === file.size;
  const offset = isComplete ? file.size : await files.partSize(place);
  exchange.send(200, JSON_TYPE, "", offsetHeaders(offset, isComplete));
}

const offsetHeaders = (offset: number, isComplete: boolean): Record<string, string> => ({
  "upload-offset": String(offset),
  "upload-complete": isComplete ? "?1" : "?0",
});

async function putModel(services: Services, exchange: Exchange, sender: Sender, sha256: string): Promise<void> {
  const { db, files, now, config } = services;
  const offset = readNumber(exchange.header("upload-offset") ?? "0", "Upload-Offset");
  const length = exchange.header("upload-length") ?? exchange.header("content-length");
  const size = readNumber(length ?? "", "Upload-Length");
  const name = new URLSearchParams(exchange.search).get("name") ?? `${sha256.slice(0, 12)}.onnx`;
  const file = await beginModel(db, now(), sender.teamId, config, { sha256, size, name });
  const place: FilePlace = { team: sender.teamId, kind: "models", sha256 };
  // Compare with the store too: a hub that was moved may have a row without the file's bytes.
  if (file.complete_at !== null && (await files.size(place)) === file.size) return answerComplete(exchange, file);
  if (!admitBody(services, exchange, sender.actor)) return;
  const received = await files.receive(place, fileBody(exchange), { offset, size, check: wrongModel });
  if (received.kind === "partial") return exchange.send(202, JSON_TYPE, "", offsetHeaders(received.size, false));
  if (received.kind === "out_of_step")
    return refuse(exchange, "out_of_step", `: go on at ${received.size}`, offsetHeaders(received.size, false));
  if (received.kind === "busy")
    return refuse(exchange, "out_of_step", ": another request sends this file now", {
      ...offsetHeaders(received.size, false),
      "retry-after": "1",
    });
  if (received.kind === "too_large") return refuse(exchange, "too_large", `: expected ${size} bytes in all`);
  if (received.kind === "wrong_kind") {
    await forgetModel(db, sender.teamId, sha256);
    throw new UserError(`model file: ${received.why}`);
  }
  if (received.kind === "wrong_hash") return refuse(exchange, "wrong_hash", `: got ${received.sha256}`);
  await completeModel(db, { now: now(), actor: sender.actor, teamId: sender.teamId }, file);
  answerComplete(exchange, file);
}

/**
 * Number of bytes that are examined at the start of a file, and the smallest number of bytes that can show a text file.
 */
const LOOKED_AT = 256;
const LEAST_TEXT = 32;

/** Returns the reason why a file cannot be a model, or undefined. A model file has control bytes near its start. */
function wrongModel(head: Buffer): string | undefined {
  const looked = head.subarray(0, LOOKED_AT);
  const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
  const isText = looked.some(isSpace) && looked.every((byte) => byte > 0x20 || isSpace(byte));
  return isText && looked.length >= LEAST_TEXT
    ? "got a text file, expected a network, such as an .onnx or .tflite file"
    : undefined;
}

function answerComplete(exchange: Exchange, { sha256, size, name }: ModelFile): void {
  exchange.send(201, JSON_TYPE, JSON.stringify({ sha256, size, name }), offsetHeaders(size, true));
}

function readNumber(text: string, header: string): number {
  if (NUMBER.test(text)) return Number(text);
  throw new UserError(`${header}: got ${JSON.stringify(text.slice(0, 40))}, expected a whole number`);
}
