/** The shrinker of the differential test, on decoders with a fault. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import type { Detections } from "../../src/decode/detections.ts";
import type { Update } from "../../src/decode/update.ts";
import { boxwright, printedJson } from "../support/cli.ts";
import { tempFolder } from "../support/files.ts";
import { makeCase } from "../support/fuzz-case.ts";
import { type MakeDecoder, runCase, shrink, writeCase } from "../support/fuzz-run.ts";

const folder = tempFolder();

type Decoder = ReturnType<MakeDecoder>;

/** Returns a maker of decoders of which some methods are others. */
const withFault =
  (change: (decoder: Decoder) => Partial<Decoder>): MakeDecoder =>
  (config, engine) => {
    const decoder = createDecoderSync(config, { engine });
    return Object.assign(decoder, change(decoder));
  };

/** Returns the detections without the last one, if that came from cell 20 or a later one. */
function withoutLast(found: Detections): Detections {
  const copy = found.copy() as { -readonly [K in keyof Detections]: Detections[K] };
  if (copy.sources[copy.length - 1] >= 20) copy.length--;
  return copy;
}

/** Loses detections of late cells: no case of a few cells fails. */
const losing = withFault((decoder) => {
  const decode = decoder.decodeBatch.bind(decoder);
  return { decodeBatch: (outputs, frames) => decode(outputs, frames).map(withoutLast) };
});

/** Takes no confidence threshold between frames. */
const deaf = withFault((decoder) => {
  const change = decoder.update.bind(decoder);
  return { update: ({ confidenceThreshold: _, ...update }: Update) => change(update) };
});

/** Returns the first seed from `from` on that fails. */
function failing(make: MakeDecoder, from: number): number {
  for (let seed = from; ; seed++) {
    const c = makeCase(seed);
    if (c && runCase(c, ["ts"], make).complaints.length > 0) return seed;
  }
}

describe.each([1, 50, 100])("from seed %d on", (from) => {
  test("a fault of one frame becomes one frame, which the command line decodes", async () => {
    const seed = failing(losing, from);
    const small = shrink(seed, "ts", losing);
    expect(small.run.complaints).not.toEqual([]);
    expect(small.case.steps).toHaveLength(1);
    const place = folder.path(`losing-${from}`);
    const ran = await boxwright(...writeCase(place, small.case, "ts"));
    expect(ran.code).toBe(0);
    const [right] = JSON.parse(readFileSync(join(place, "expected.json"), "utf8")) as unknown[][];
    expect(printedJson(ran.out).detections).toHaveLength(right.length);
    expect(right.length).toBeGreaterThan(0);
  });

  test("a fault of a change between frames keeps the frames, with files of each", async () => {
    const seed = failing(deaf, from);
    const { case: small, run } = shrink(seed, "ts", deaf);
    expect(run.complaints).not.toEqual([]);
    expect(small.steps.length).toBeGreaterThan(1);
    const place = folder.path(`deaf-${from}`);
    const words = writeCase(place, small, "ts");
    const last = `tensors-${small.steps.length - 1}.safetensors`;
    for (const name of ["tensors-0.safetensors", last, "expected-1.json", "updates.json"])
      expect(existsSync(join(place, name)), name).toBe(true);
    expect(words).toContain(join(place, last));
    expect((await boxwright(...words)).code).toBe(0);
  });
});
