/** The sink "ndjson": a file with one CloudEvent as JSON per line. */
import { type FileHandle, open } from "node:fs/promises";
import { fromPacket, packetHeaders } from "boxwright";
import { messageOf } from "boxwright-service/errors";
import type { NdjsonSettings } from "../settings/sinks.ts";
import type { Outcome, Sink } from "./sink.ts";

/** Number of bytes that are read at a time to find the last line end. */
const TAIL = 2 ** 20;

export class NdjsonSink implements Sink {
  readonly name: string;
  /** Send one packet at a time, since two writes at the same position would mix. */
  readonly inFlight = 1;
  readonly #path: string;
  #file: FileHandle | null = null;
  /** Number of bytes of all complete lines. */
  #bytes = 0;

  constructor({ name, path }: NdjsonSettings) {
    this.name = name;
    this.#path = path;
  }

  async send(packet: Uint8Array): Promise<Outcome> {
    let line: Buffer;
    try {
      line = Buffer.from(`${lineOf(packet)}\n`);
    } catch (error) {
      return { kind: "refused", reason: messageOf(error) };
    }
    try {
      this.#file ??= await this.#open();
      let written = 0;
      while (written < line.length) {
        const { bytesWritten } = await this.#file.write(line, written, line.length - written, this.#bytes + written);
        written += bytesWritten;
      }
      this.#bytes += line.length;
      return { kind: "stored" };
    } catch (error) {
      // Leave a half-written line as it is: the next attempt writes at the same position.
      return { kind: "later", reason: messageOf(error) };
    }
  }

  async close(): Promise<void> {
    await this.#file?.datasync().catch(() => undefined);
    await this.#file?.close();
  }

  /** Opens the file. Cuts off a half-written last line, which a killed process may leave. */
  async #open(): Promise<FileHandle> {
    await (await open(this.#path, "a")).close();
    const file = await open(this.#path, "r+");
    try {
      this.#bytes = await endOfLines(file);
      await file.truncate(this.#bytes);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/** Returns the position after the file's last line end. */
async function endOfLines(file: FileHandle): Promise<number> {
  for (let end = (await file.stat()).size; end > 0;) {
    const from = Math.max(0, end - TAIL);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
    const last = buffer.subarray(0, bytesRead).lastIndexOf(10);
    if (last >= 0) return from + last + 1;
    end = from;
  }
  return 0;
}

/** Returns a packet as a structured CloudEvent on one line. Tensors of a raw packet are encoded in base64. */
function lineOf(packet: Uint8Array): string {
  const { kind, config, id, source, subject, time, sequence, traceparent } = fromPacket(packet);
  if (kind === "detection") return Buffer.from(packet).toString("utf8").trimEnd();
  const headers = packetHeaders(packet);
  return JSON.stringify({
    specversion: "1.0",
    type: headers["ce-type"],
    ...{ id, source },
    ...(subject !== null && { subject }),
    ...(time !== null && { time }),
    ...(sequence !== null && { sequence: String(sequence).padStart(16, "0") }),
    ...(traceparent !== null && { traceparent }),
    ...(config !== null && { config }),
    datacontenttype: headers["content-type"],
    data_base64: Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength).toString("base64"),
  });
}
