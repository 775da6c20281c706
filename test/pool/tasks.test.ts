/** Networks with more than boxes in a pool: keypoints and oriented boxes arrive, masks say where they are. */
import { expect, test } from "vitest";
import { createDecoderSync, toPacket } from "../../src/entries/index.ts";
import { type DecoderPool, createPool } from "../../src/entries/pool.ts";
import { about, frame, tasks, withFormat } from "../packet/support.ts";

// Threads are built files: `npm test` builds first.
const worker = new URL("../../dist/pool-worker.mjs", import.meta.url);

async function withPool(config: object, run: (pool: DecoderPool) => Promise<void>): Promise<void> {
  const pool = await createPool({ networks: [{ config }], threads: 1, worker });
  try {
    await run(pool);
  } finally {
    await pool.close();
  }
}

test.each([
  ["pose", tasks.pose],
  ["oriented", tasks.oriented],
] as const)("%s: packets of both kinds and tensors give the columns of one decoder", (_, network) => {
  const { config, outputs } = network;
  const decoder = createDecoderSync(config);
  const expected = decoder.decode(outputs, frame).copy();
  return withPool(config, async (pool) => {
    const { data, dims } = outputs.output0;
    const frames = [
      toPacket(withFormat(decoder, "raw"), outputs, frame, about),
      toPacket(withFormat(decoder, "detection"), outputs, frame, about),
      { output0: { data: data.slice(), dims } },
    ];
    for (const given of frames) {
      const found = (await pool.decode("door", given, { frame }))?.detections;
      expect(found).toEqual(expected);
      expect(found?.toArray()).toEqual(expected.toArray());
      expect(found?.copy()).toEqual(expected);
      expect(found?.at(0)).toHaveProperty(config.task === "pose" ? "keypoints" : "corners");
      expect(() => found?.mask(0)).toThrow(/got no masks/);
    }
  });
});

test("landmarks arrive with depths, metres and the crop of the next frame", () => {
  const config = { family: "hand-landmarks", inputSize: [224, 224] } as const;
  const outputs = {
    Identity: { data: Float32Array.from({ length: 63 }, (_, i) => 20 + 3 * i), dims: [1, 63] },
    Identity_1: { data: Float32Array.of(0.9), dims: [1, 1] },
    Identity_2: { data: Float32Array.of(0.8), dims: [1, 1] },
    Identity_3: { data: Float32Array.from({ length: 63 }, (_, i) => i / 1000), dims: [1, 63] },
  };
  const expected = createDecoderSync(config).decode(outputs).copy();
  expect(Object.keys(expected)).toEqual(expect.arrayContaining(["depths", "world", "nextCrops"]));
  return withPool(config, async (pool) => {
    const found = (await pool.decode("door", structuredClone(outputs)))?.detections;
    expect(found).toEqual(expected);
    expect(found?.toArray()).toEqual(expected.toArray());
  });
});

test("masks stay in their thread, and the error says what to do", () => {
  const { config, outputs } = tasks.segment;
  const decoder = createDecoderSync(config);
  const expected = decoder.decode(outputs, frame).copy();
  return withPool(config, async (pool) => {
    const raw = toPacket(withFormat(decoder, "raw"), outputs, frame, about);
    const result = await pool.decode("door", raw);
    const found = result?.detections;
    expect(found?.toArray()).toEqual(expected.toArray());
    for (const from of [found, found?.copy()])
      expect(() => from?.mask(0)).toThrow(
        /mask: got detections of a pool, .*expected those of a decoder in this thread: createDecoder/,
      );
  });
});
