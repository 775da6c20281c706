/** What tasks give rows, through the merge of tiles: keypoints with all their columns, oriented boxes, masks. */
import { describe, expect, test } from "vitest";
import { type TaskColumns, extend, setLength } from "../../src/decode/detections.ts";
import { Detections, createDecoderSync, createTileMerger, mergeTiles } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import { readGoldenFamily } from "../support/golden-families.ts";
import { describeShared } from "../support/shared-data.ts";

const SIZE = [200, 100] as const;
const TILE = { x: 100, y: 20, width: 50, height: 50 };

/** Returns two rows that do not overlap, with columns of a task. */
function withColumns(columns: TaskColumns): Detections {
  const found = new Detections(
    Float32Array.of(0, 0, 0.25, 0.5, 0.5, 0.5, 1, 1),
    Float32Array.of(0.75, 0.5),
    Int32Array.of(0, 0),
    Uint32Array.of(4, 7),
    null,
  );
  setLength(found, 2);
  extend(found, columns, { copy: () => undefined });
  return found;
}

const mergeOne = (found: Detections): Detections => mergeTiles(SIZE, [[TILE, found]], { method: "nms" });

describe.each(["as decoded", "a clone of another thread"])("%s", (how) => {
  const given = (columns: TaskColumns): Detections =>
    how === "as decoded" ? withColumns(columns) : structuredClone(withColumns(columns));

  test("every column of keypoints is moved into the picture", () => {
    const merged = mergeOne(
      given({
        keypoints: Float32Array.of(0, 0, 0.5, 1, 0.5, 0.25),
        keypointNames: ["nose"],
        edges: [[0, 0]],
        depths: Float32Array.of(0.5, -1),
        presences: Float32Array.of(0.75, 1),
        world: Float32Array.of(1, 2, 3, 4, 5, 6),
        fusedScores: Float32Array.of(0.5, 0.25),
        nextCrops: Float32Array.of(10, 20, 30, 40, 0.5, 1, 2, 3, 4, 5),
      }),
    );
    for (const kept of [merged, merged.copy()]) {
      expect([...(kept.keypoints ?? [])].map((v) => +v.toFixed(6))).toEqual([
        0.5, 0.2, 0.5, 0.75, 0.45, 0.25,
      ]);
      // A depth has the unit of x.
      expect([...(kept.depths ?? [])]).toEqual([0.125, -0.25]);
      expect([...(kept.presences ?? [])]).toEqual([0.75, 1]);
      expect([...(kept.world ?? [])]).toEqual([1, 2, 3, 4, 5, 6]);
      expect([...(kept.fusedScores ?? [])]).toEqual([0.5, 0.25]);
      expect([...(kept.nextCrops ?? [])]).toEqual([110, 40, 30, 40, 0.5, 101, 22, 3, 4, 5]);
      expect(kept.edges).toEqual([[0, 0]]);
      expect(kept.at(1)).toMatchObject({
        fused_confidence: 0.25,
        keypoints: [{ name: "nose", x: 0.75, z: -0.25, presence: 1, world: { x: 4, y: 5, z: 6 } }],
      });
    }
  });

  test("oriented boxes keep their angle, and corners are moved", () => {
    const corners = Float32Array.of(0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const merged = mergeOne(given({ angles: Float32Array.of(0.25, 0.5), corners }));
    expect([...(merged.angles ?? [])]).toEqual([0.25, 0.5]);
    expect(merged.at(0)?.corners).toEqual([
      { x: 0.5, y: expect.closeTo(0.2, 6) as number },
      { x: 0.75, y: expect.closeTo(0.2, 6) as number },
      { x: 0.75, y: expect.closeTo(0.7, 6) as number },
      { x: 0.5, y: expect.closeTo(0.7, 6) as number },
    ]);
  });
});

test("tiles of which one has another column are refused, and the best rows keep theirs", () => {
  const keypoints = Float32Array.of(0, 0, 0.5, 1, 0.5, 0.25);
  const merger = createTileMerger(SIZE, { method: "nms", maxCandidates: 2 });
  merger.add(TILE, withColumns({ keypoints, depths: Float32Array.of(1, 2) }));
  expect(() => merger.add(TILE, withColumns({ keypoints }))).toThrow(
    "got 1 keypoints a row, expected 1 keypoints a row with depths, as in the tiles before",
  );
  const better = withColumns({ keypoints, depths: Float32Array.of(5, 6) });
  better.scores.set([0.875, 0.0625]);
  merger.add({ ...TILE, x: 0 }, better);
  // Each depth is a quarter of what it was: the tile is a quarter of the picture.
  expect([...(merger.merge().depths ?? [])]).toEqual([1.25, 0.25]);
});

/** Options of golden cases, one for each kind of result. */
const KINDS: { readonly [name: string]: Partial<TypedOptions> } = {
  rtmo: { family: "rtmo" },
  "rfdetr-keypoints": { family: "rfdetr", task: "pose", classes: 1, keypoints: [5, 3] },
  "mediapipe-hand": { family: "hand-landmarks" },
  "mediapipe-pose": { family: "pose-landmarks" },
  "face-det-lite": { family: "face-det-lite" },
  "dbnet-text": { family: "dbnet" },
  "rtmdet-ins": { family: "rtmdet-ins" },
  maskrcnn: { family: "mask-rcnn", coordinates: "pixels" },
};

describeShared("one tile as large as the picture changes nothing", (data) => {
  test.each(Object.keys(KINDS))("%s", (name) => {
    const { fixture, outputs } = readGoldenFamily(data, name);
    const { width, height } = fixture.input;
    const options = { inputSize: [width, height], confidenceThreshold: 0.3, ...KINDS[name] } as TypedOptions;
    const found = createDecoderSync(options, { rules: { clamp: "none" } })
      .decode(outputs, { width, height, resize: "stretch" })
      .copy();
    expect(found.length).toBeGreaterThan(0);
    const merged = mergeTiles([width, height], [[{ x: 0, y: 0, width, height }, found]], {
      method: "nms",
      metric: "iou",
      threshold: 1,
    });
    expect(Object.keys(merged).sort()).toEqual(Object.keys(found).sort());
    for (const [column, value] of Object.entries(found)) {
      const now = merged[column as keyof Detections];
      if (!ArrayBuffer.isView(value)) expect(now, column).toEqual(value);
      else {
        const near = Array.from(value as unknown as Float32Array, (v) => expect.closeTo(v, 4) as number);
        expect([...(now as Float32Array)], column).toEqual(near);
      }
    }
    if (/rtmdet-ins|maskrcnn/.test(name))
      expect(() => merged.mask(0)).toThrow("make masks of its detections");
  });
});
