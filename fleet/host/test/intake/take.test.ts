import { expect, onTestFinished, test, vi } from "vitest";
import { Refusal } from "../../src/core/errors.ts";
import { createLogger } from "boxwright-service/log";
import { type TakeOptions, takePacket } from "../../src/intake/take.ts";

test("a packet of an unknown config is refused after 36 tries, over about half an hour", async () => {
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
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  onTestFinished(() => random.mockRestore());
  let milliseconds = 0;
  for (let deliveries = 1; deliveries < 36; deliveries++) {
    const verdict = await takePacket(options, { ...packet, deliveries });
    expect(verdict).toBeTypeOf("number");
    milliseconds += verdict as number;
  }
  expect(milliseconds / 60_000).toBe(30.05);
  expect(recorded).toEqual([]);
  expect(await takePacket(options, { ...packet, deliveries: 36 })).toBe("refused");
  expect(recorded.length).toBeGreaterThan(0);
});

test("packets that a thread had are recorded with their length, each one", async () => {
  const recorded: unknown[][] = [];
  const all = (sql: string, params: unknown[]): Promise<void> =>
    Promise.resolve(void (sql.startsWith("INSERT") && recorded.push(params)));
  const receive = (bytes: Uint8Array): Promise<never> => {
    structuredClone(bytes, { transfer: [bytes.buffer] });
    return Promise.reject(new Refusal("tensors", "no"));
  };
  const db = { write: (work: (tx: object) => Promise<unknown>) => work({ all }) };
  const options = { intake: { receive }, db, log: createLogger("silent"), now: () => 0 } as unknown as TakeOptions;
  for (const id of ["frame-1", "frame-2"]) {
    const header = (name: string): string | undefined => (name === "ce-id" ? id : undefined);
    const packet = { way: "mqtt", bytes: new Uint8Array(9), place: "a/b", deliveries: 1, header } as const;
    expect(await takePacket(options, packet)).toBe("refused");
  }
  const [[hash1, , , , bytes1], [hash2]] = recorded as [string[], string[]];
  expect(bytes1).toBe(9);
  expect(hash1).not.toBe(hash2);
});
