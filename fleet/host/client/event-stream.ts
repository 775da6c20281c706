/** Reads server-sent events from the body of an answer. */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** Last event id that the stream has sent so far. */
  readonly id: string;
}

/**
 * Yields the events of a stream until it ends.
 * @param onBytes called whenever bytes arrive
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let [event, data, id] = ["", [] as string[], ""];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      rest += decoder.decode(value, { stream: true });
      // Keep a "\r" at the end of the chunk: the next chunk may begin with its line feed.
      const end = rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
      rest = lines.pop()! + rest.slice(end);
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { event: event || "message", data: data.join("\n"), id };
          [event, data] = ["", []];
          continue;
        }
        const [, field, text = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
        if (field === "event") event = text;
        else if (field === "data") data.push(text);
        else if (field === "id" && !text.includes("\0")) id = text;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
