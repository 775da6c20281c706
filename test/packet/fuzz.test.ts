/**
 * Damaged packets: whatever the bytes are, a reader answers with a packet or with an error of the package. A seeded few
 * thousand here; `npm run fuzz:packets` tries a million.
 */
import { expect, test } from "vitest";
import {
  PacketError,
  TensorError,
  createDecoderSync,
  fromPacket,
  packetHeaders,
  toPacket,
} from "../../src/entries/index.ts";
import { about, frame, smallNetwork } from "./support.ts";

const COUNT = Number(process.env.BOXWRIGHT_FUZZ_PACKETS ?? 5000);
const SEED = Number(process.env.BOXWRIGHT_FUZZ_SEED ?? 41);

/** Returns a generator of whole numbers below a bound (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const { config, outputs } = smallNetwork();
const decoder = createDecoderSync(config, { engine: "ts" });
const found = decoder.decode(outputs, frame).copy();
const answer = '{"id":"7","outputs":[{"name":"output0","shape":[1,5,84],"datatype":"FP32","data":[';
const SEEDS = [
  toPacket(decoder, outputs, frame, about),
  toPacket(decoder, found, frame, about),
  toPacket(
    createDecoderSync({}),
    { output0: { data: new Int8Array(5 * 84), dims: [1, 5, 84], scale: 0.5 } },
    null,
    about,
  ),
  Buffer.from(`${answer}${Array(420).fill(0.5).join()}]}]}`),
];
/** Pieces that mean something in JSON or in the protocol. */
const TOKENS = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\",
  "\\ud800",
  "-1",
  "1e999",
  "0.5",
  "null",
  "true",
  "99999999999999999999",
]
  .concat([
    "FP64",
    "INT64",
    "UINT8",
    "BYTES",
    "__proto__",
    "constructor",
    "place",
    "ce-type",
    "boxwright.raw.v1",
    "\u0000",
    "é",
  ])
  .map((token) => Buffer.from(token));

const isDigit = (b: number): boolean => b >= 0x30 && b <= 0x39;

/** Returns a damaged copy: bytes or digits changed, cut, doubled, left out, or replaced by a token. */
function damaged(random: (below: number) => number): Uint8Array {
  let bytes: Uint8Array = Uint8Array.from(SEEDS[random(SEEDS.length)]);
  for (let times = 1 + random(3); times > 0; times--) {
    // Most damage goes to the JSON: bytes of tensors are all alike.
    const at = random(random(4) === 0 ? bytes.length + 1 : Math.min(bytes.length, 1200) + 1);
    const begin = bytes.subarray(0, at);
    const rest = bytes.subarray(at + random(12));
    const kind = random(12);
    const digit = bytes.findIndex((b, i) => i >= at && isDigit(b));
    if (kind < 6 && digit >= 0) bytes[digit] = 0x30 + random(10);
    else if (kind < 7 && at < bytes.length) bytes[at] = random(256);
    else if (kind === 7) bytes = begin.slice();
    else if (kind === 8) bytes = Buffer.concat([begin, rest]);
    else if (kind === 9) bytes = Buffer.concat([begin, bytes.subarray(random(at + 1))]);
    else
      bytes = Buffer.concat([begin, TOKENS[random(TOKENS.length)], kind === 10 ? rest : bytes.subarray(at)]);
  }
  return bytes;
}

test(
  `${COUNT} damaged packets of seed ${SEED} give packets or errors of the package`,
  { timeout: 3_600_000 },
  () => {
    const random = seeded(SEED);
    const counts: Record<string, number> = {};
    let slowest = 0;
    for (let i = 0; i < COUNT; i++) {
      const bytes = damaged(random);
      const start = performance.now();
      let outcome: string;
      try {
        const packet = fromPacket(bytes);
        outcome = packet.kind;
        for (const d of decoder.receive(packet)) if (!(d.class_id >= 0)) outcome = "a wrong class";
      } catch (e) {
        if (!(e instanceof PacketError || e instanceof TensorError))
          throw new Error(
            `packet ${i} of seed ${SEED}: ${String(e)}\n${Buffer.from(bytes).toString("latin1")}`,
            { cause: e },
          );
        outcome = e instanceof PacketError ? e.kind : e.name;
      }
      slowest = Math.max(slowest, performance.now() - start);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    console.log(COUNT, "damaged packets:", JSON.stringify(counts), `slowest ${slowest.toFixed(1)} ms`);
    // The damage is neither too small nor too large to test anything.
    for (const outcome of ["raw", "detection", "foreign", "cut off", "other config", "TensorError"])
      expect(counts[outcome] ?? 0, outcome).toBeGreaterThan(0);
    expect(counts).not.toHaveProperty("a wrong class");
  },
);

test("headers of a packet that was read do not fail", () => {
  const random = seeded(SEED + 1);
  for (let i = 0; i < 2000; i++) {
    const bytes = damaged(random);
    try {
      fromPacket(bytes);
    } catch {
      continue;
    }
    expect(() => packetHeaders(bytes)).not.toThrow();
  }
});
