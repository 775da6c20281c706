import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { createLogger } from "boxwright-service/log";
import { ensureStream } from "../../src/nats/stream.ts";

const log = createLogger("silent");

/** A manager without a stream, whose broker answers with this error. Counts the streams that are made. */
function managerThat(fails: Error): { manager: JetStreamManager; made: () => number } {
  let made = 0;
  const streams = {
    info: () => Promise.reject(fails),
    add: (config: object) => Promise.resolve((made++, { config })),
  };
  return { manager: { streams } as unknown as JetStreamManager, made: () => made };
}

test.each([
  [1, "the broker's code says that there is no stream", new JetStreamApiError(apiError(10059, "kein Stream"))],
  [0, "another code has the words of a missing stream", new JetStreamApiError(apiError(10014, "consumer not found"))],
  [0, "the broker does not answer", new Error("no responders: 503 not found")],
])("makes %i streams if %s", async (count, _, error) => {
  const { manager, made } = managerThat(error);
  const settled = ensureStream(manager, { streamBytes: 2 ** 20, partitions: 1, ackWait: 30 }, log);
  await (count === 1 ? settled : expect(settled).rejects.toBe(error));
  expect(made()).toBe(count);
});

function apiError(code: number, description: string): ConstructorParameters<typeof JetStreamApiError>[0] {
  return { code: 404, err_code: code, description };
}

test.each([
  ["fewer", ["boxwright.packets.0.>"]],
  ["more", Array.from({ length: 9 }, (_, n) => `boxwright.packets.${n}.>`)],
  ["all in one", ["boxwright.packets.>"]],
])("a stream with %s partitions than the settings is refused", async (_, subjects) => {
  const config = { subjects, retention: "workqueue", discard: "new" };
  const manager = { streams: { info: () => Promise.resolve({ config }) } } as unknown as JetStreamManager;
  await expect(ensureStream(manager, { streamBytes: 2 ** 20, partitions: 8, ackWait: 30 }, log)).rejects.toThrow(
    "expected 8, boxwright.packets.0.> to boxwright.packets.7.>",
  );
});
