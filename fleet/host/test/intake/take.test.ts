import { expect, test } from "vitest";
import { Refusal } from "../../src/core/errors.ts";
import { createLogger } from "boxwright-service/log";
import { type TakeOptions, takePacket } from "../../src/intake/take.ts";

test("a packet of an unknown config is refused after 64 tries, over about half an hour", async () => {
  const recorded: unknown[] = [];
  const options = {
    intake: { receive: () => Promise.reject(new Refusal("unknown config", "no", { config: "0123456789abcdef" })) },
    db: { write: (work: (tx: object) => Promise<unknown>) => work({ all: () => Promise.resolve(recorded.push(1)) }) },
    log: createLogger("silent"),
    now: () => 0,
  } as unknown as TakeOptions;
  const packet = {
    way: "nats",
    bytes: new Uint8Array(1),
    place: "boxwright.packets.0.a 1",
    header: () => undefined,
  } as const;
  let milliseconds = 0;
  for (let deliveries = 1; deliveries < 64; deliveries++) {
    const verdict = await takePacket(options, { ...packet, deliveries });
    expect(verdict).toBeTypeOf("number");
    milliseconds += verdict as number;
  }
  expect(milliseconds / 60_000).toBe(33.5);
  expect(recorded).toEqual([]);
  expect(await takePacket(options, { ...packet, deliveries: 64 })).toBe("refused");
  expect(recorded.length).toBeGreaterThan(0);
});
