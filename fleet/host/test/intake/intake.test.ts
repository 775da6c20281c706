import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDecoderSync, fromPacket, toPacket } from "boxwright";
import { type TestHost, emptyDatabase, kinds, temporaryFolder, testHost } from "../support/host.ts";
import {
  about,
  config,
  configBody,
  decoder,
  detectionPacket,
  frameSize,
  hash,
  outputsOf,
  rawPacket,
} from "../support/frames.ts";

describe.each(kinds.filter(({ skip }) => !skip))("packets on $kind", ({ kind }) => {
  let host: TestHost;
  beforeAll(async () => {
    host = await testHost({ database: await emptyDatabase(kind, temporaryFolder().path) });
  });
  afterAll(() => host.end());

  test("a raw packet of an unknown config is asked for its config, then stored", async () => {
    const answer = await host.post(rawPacket(0));
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ config: hash });
    expect((await host.putConfig(hash, configBody)).status).toBe(204);
    expect((await host.post(rawPacket(0))).status).toBe(204);
  });

  test("a packet that comes twice is stored once, and says so", async () => {
    const answer = await host.post(rawPacket(0));
    expect([answer.status, answer.headers.get("x-boxwright-duplicate")]).toEqual([204, "1"]);
    const all = await Promise.all(Array.from({ length: 6 }, () => host.post(detectionPacket(1))));
    expect(all.filter(({ headers }) => !headers.has("x-boxwright-duplicate"))).toHaveLength(1);
    expect((await host.lines()).map(({ id }) => id)).toEqual(["frame-0", "frame-1"]);
  });

  test("raw and detection packets of the same outputs store the same detections, to the last digit", async () => {
    for (let n = 10; n < 60; n++) {
      expect((await host.post(rawPacket(n, { source: "raw" }))).status).toBe(204);
      expect((await host.post(detectionPacket(n, { source: "detection" }))).status).toBe(204);
    }
    const [raw, detection] = await Promise.all([host.lines("source=raw"), host.lines("source=detection")]);
    expect(raw).toHaveLength(50);
    expect(raw.map(({ detections }) => detections)).toEqual(detection.map(({ detections }) => detections));
    // And both are what the decoder says, in doubles.
    expect(raw.map(({ detections }) => detections)).toEqual(
      raw.map((_, i) => JSON.parse(JSON.stringify(decoder.decode(outputsOf(i + 10), frameSize).toArray()))),
    );
    expect(raw.some(({ detections }) => detections.length > 1)).toBe(true);
    expect(raw[0]).toMatchObject({ frame: frameSize, kind: "raw", config: hash, sequence: 10, subject: "door" });
  });

  test("configs of several networks decode side by side", async () => {
    const other = { ...config, labels: ["kitten", "puppy"] };
    const theirs = createDecoderSync(other);
    expect((await host.putConfig(theirs.configHash!, JSON.stringify({ config: other }))).status).toBe(204);
    await host.post(toPacket(theirs, outputsOf(1), frameSize, about(1, { source: "other" })));
    await host.post(rawPacket(1, { source: "first" }));
    const labels = async (source: string): Promise<string[]> =>
      (await host.lines(`source=${source}`))[0].detections.map(({ label }: { label: string }) => label);
    expect(new Set(await labels("other"))).toEqual(new Set(["kitten", "puppy"]));
    expect(new Set(await labels("first"))).toEqual(new Set(["cat", "dog"]));
  });

  test("options and outputs belong to the config", async () => {
    const options = { outputs: [{ name: "output0", dims: [1, 6, 84] }], confidenceThreshold: 0.85 };
    const theirs = createDecoderSync(config, options as object);
    const body = { config, options: { confidenceThreshold: 0.85 }, outputs: options.outputs };
    expect((await host.putConfig(theirs.configHash!, JSON.stringify({ config }))).status).toBe(400);
    const answer = await host.putConfig(theirs.configHash!, JSON.stringify(body));
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
  });
});

test("a config survives the restart of the host", async () => {
  const database = await emptyDatabase("sqlite", temporaryFolder().path);
  const first = await testHost({ database });
  await first.putConfig(hash, configBody);
  await first.end();
  const second = await testHost({ database });
  expect((await second.post(rawPacket(0))).status).toBe(204);
  await second.end();
});

test("a packet without a config is decoded by the operator's, and refused without one", async () => {
  const folder = temporaryFolder().path;
  writeFileSync(`${folder}/network.json`, JSON.stringify(config));
  const bytes = toPacket(createDecoderSync({}), outputsOf(3), frameSize, about(3));
  expect(fromPacket(bytes).config).toBeNull();
  const without = await testHost();
  expect((await without.post(bytes)).status).toBe(409);
  await without.end();
  const host = await testHost({ configs: [`${folder}/network.json`] });
  expect((await host.post(bytes)).status).toBe(204);
  expect((await host.lines())[0].detections).toEqual(
    JSON.parse(JSON.stringify(decoder.decode(outputsOf(3), frameSize).toArray())),
  );
  await host.end();
});

test("a packet without a time has that of its arrival", async () => {
  const host = await testHost({}, () => Date.UTC(2030, 0, 1));
  const bytes = toPacket(decoder, decoder.decode(outputsOf(1), frameSize), frameSize, { id: "a", source: "b" });
  expect((await host.post(bytes)).status).toBe(204);
  expect(await host.lines()).toMatchObject([{ time: "2030-01-01T00:00:00.000000000Z", subject: null, sequence: null }]);
  await host.end();
});

test("a stored tensor that does not fit is refused, and the next frame is taken", async () => {
  const host = await testHost();
  await host.putConfig(hash, configBody);
  const wrong = { output0: { data: new Float32Array(7 * 84), dims: [1, 7, 84] } };
  const answer = await host.post(toPacket(decoder, wrong, frameSize, about(1)));
  expect([answer.status, await answer.json()]).toMatchObject([400, { reason: "tensors" }]);
  expect((await host.post(rawPacket(2))).status).toBe(204);
  await host.end();
});
