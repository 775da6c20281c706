/** The command on a pose network: decode, draw, inspect. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { boxwright, printedJson } from "../../support/cli.ts";
import { fixture, tempFolder } from "../../support/files.ts";
import { dict, npy } from "../../support/npy.ts";
import { fixtures, readBytes, readJson } from "../../support/shared-data.ts";

const folder = tempFolder();

interface Golden {
  readonly detections: readonly { readonly keypoints: readonly (readonly number[])[] }[];
}
const GOLDEN = [fixtures, "beyond", "heads", "pose_26"];
const expected = readJson(...GOLDEN, "fixture.json") as Golden;

const network = async (): Promise<string[]> => {
  const tensor = npy(dict("'<f4'", "(1, 80, 57)"), readBytes(...GOLDEN, "output0.bin"));
  const words = ["--family", "yolo26", "--classes", "1", "--input-size", "192x128", "--task", "pose"];
  return [await folder.put("pose.npy", tensor), ...words, "--keypoints", "17x3", "--confidence", "0.26"];
};

test("decodes points as the golden file has them", async () => {
  const { code, out, err } = await boxwright("decode", ...(await network()), "--json");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const { detections } = printedJson(out);
  expect(detections.length).toBe(expected.detections.length);
  detections.forEach(({ keypoints }, i) => {
    expect(keypoints).toHaveLength(17);
    keypoints?.forEach((p, k) => {
      const [x, y, confidence] = expected.detections[i].keypoints[k];
      // The rules of Ultralytics clamp points as they clamp boxes.
      expect(p.x).toBeCloseTo(Math.min(1, Math.max(0, x / 192)), 5);
      expect(p.y).toBeCloseTo(Math.min(1, Math.max(0, y / 128)), 5);
      expect(p.confidence).toBeCloseTo(confidence, 5);
    });
  });
});

test("draws skeletons", async () => {
  const svg = folder.path("a.svg");
  const words = [...(await network()), "--photo", fixture("photos/chelsea.png"), "--out", svg, "--max", "1"];
  expect((await boxwright("draw", ...words)).code).toBe(0);
  const text = await readFile(svg, "utf8");
  expect(text.match(/<circle /g)?.length).toBeGreaterThan(3);
  expect(text).toMatch(/<path d="M\d/);
});

test("refuses a shape of keypoints that is none, and names the option where it is missing", async () => {
  const [file, ...words] = await network();
  const wrong = await boxwright("decode", file, ...words.slice(0, 8), "--keypoints", "17");
  expect(wrong.err).toContain('--keypoints: got "17", expected KxV, for example 17x3 or 4x2');
  const without = await boxwright("decode", file, ...words.slice(0, 8));
  expect(without.err).toContain("got no number of keypoints, expected keypoints: [count, 2 or 3]");
  expect(without.err).toContain("In this command: --keypoints 17x3");
});
