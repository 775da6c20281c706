/**
 * `prepareImage` against OpenCV (`cvtColor`, `resize`, `copyMakeBorder`, `blobFromImage`) and Pillow (`resize`): 1,000
 * seeded pictures and rules, byte for byte. Their answers are kept as digests. Python with both packages of the same
 * versions makes them anew. `BOXWRIGHT_KEEP=1` writes them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { ruleOf } from "../../src/picture/prepare/config-rule.ts";
import { prepareImage } from "../../src/picture/prepare/prepare.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { digestOf, imageOf, laterCase, prepareCase } from "../support/prepare-cases.ts";
import { networks } from "../support/recorded-networks.ts";
import { describeShared, foldersIn, readRecording } from "../support/shared-data.ts";

interface Answers {
  readonly versions: { readonly opencv: string; readonly pillow: string };
  readonly digests: readonly string[];
}

const COUNT = 1000;
const cases = Array.from({ length: COUNT }, (_, i) => prepareCase(i));
/** Cases with a margin, a padding for each channel, and cubic weights. Their digests follow those of the others. */
const later = Array.from({ length: 240 }, (_, i) => laterCase(i));
const file = fileURLToPath(new URL("../fixtures/prepare/digests.json", import.meta.url));
const script = fileURLToPath(new URL("../support/prepare.py", import.meta.url));

const kept = JSON.parse(readFileSync(file, "utf8")) as Answers;
const isKeeping = Boolean(process.env["BOXWRIGHT_KEEP"]);

/**
 * The first Python with both packages of the kept versions, or of any if their answers are to be kept; undefined if
 * there is none. It is asked before it is given the cases: a script that ends at its first import reads none of them.
 */
const python = ["/usr/bin/python3", "python3"].find((one) => {
  const asks = "import cv2, PIL; print(cv2.__version__, PIL.__version__)";
  const { status, stdout } = spawnSync(one, ["-c", asks], { encoding: "utf8" });
  return status === 0 && (isKeeping || stdout.trim() === `${kept.versions.opencv} ${kept.versions.pillow}`);
});

/** Returns what Python answers. */
function pythonAnswers(): Answers {
  const input = JSON.stringify([...cases, ...later]);
  const options = { input, encoding: "utf8", stdio: "pipe", maxBuffer: 1e8 } as const;
  return JSON.parse(execFileSync(python ?? "", [script], options)) as Answers;
}

if (isKeeping && python !== undefined) writeFileSync(file, `${JSON.stringify(pythonAnswers(), null, 1)}\n`);

// `npm test` gives each engine a third of the cases, so that each case still has an outside answer.
test.each(engines)("engine %s: tensors are byte-equal to those of OpenCV and Pillow", (engine) => {
  const digest = (c: (typeof cases)[number]): string =>
    digestOf(prepareImage(imageOf(c), c.rule, { engine }).tensor.data);
  const wrong = shareOf(engine, [...cases.entries()]).filter(([i, c]) => digest(c) !== kept.digests[i]);
  expect(wrong.slice(0, 3), `${wrong.length} of ${COUNT} differ`).toEqual([]);
});

test.each(engines)("engine %s: margins, a padding for each channel, cubic weights", (engine) => {
  const wrong = later.filter(
    (c, i) => digestOf(prepareImage(imageOf(c), c.rule, { engine }).tensor.data) !== kept.digests[COUNT + i],
  );
  // OpenCV adds the rows of cubic weights in another order: three bytes in a million differ by 1.
  expect(wrong.filter(({ rule }) => rule.resample !== "cubic")).toEqual([]);
  expect(wrong.length).toBeLessThanOrEqual(3);
});

test("the cases hold every word of a rule, pictures that grow and that shrink, and whole multiples", () => {
  const count = (is: (c: (typeof cases)[number]) => boolean): number => cases.filter(is).length;
  for (const resize of ["letterbox", "letterbox-topleft", "stretch", "crop"])
    for (const resample of ["bilinear", "area", "nearest", "pillow"])
      expect(
        count(({ rule }) => rule.resize === resize && rule.resample === resample),
        `${resize} ${resample}`,
      ).toBeGreaterThan(20);
  for (const type of [undefined, "f16", "u8", "i8"])
    expect(count(({ rule }) => rule.type === type)).toBeGreaterThan(50);
  for (const format of ["rgba", "rgb", "bgr", "gray", "nv12", "i420", "yuyv"])
    expect(count((c) => c.format === format)).toBeGreaterThan(80);
  expect(count(({ width, rule }) => width > rule.size[0])).toBeGreaterThan(200);
  expect(count(({ width, rule }) => width < rule.size[0])).toBeGreaterThan(200);
  expect(
    count(({ width, height, rule: { size } }) => width === 2 * size[0] && height === 2 * size[1]),
  ).toBeGreaterThan(5);
  expect(new Set(kept.digests).size).toBeGreaterThan(900);
});

const { opencv, pillow } = kept.versions;
test.skipIf(python === undefined)(
  `the kept answers are those of OpenCV ${opencv} and Pillow ${pillow} here`,
  () => {
    expect(pythonAnswers().digests).toEqual(kept.digests);
    expect(kept.digests).toHaveLength(COUNT + later.length);
  },
);

describeShared("the rule of a family is that of the recordings", (data) => {
  const recorded = `${data}/recorded`;
  const photoOf = (folder: string): string => foldersIn(recorded, folder)[0];
  const all = networks
    .filter((n, i) => networks.findIndex(({ folder }) => folder === n.folder) === i)
    .map((n) => [n, readRecording(recorded, n.folder, photoOf(n.folder))] as const)
    // Some recordings tell their preparation in words alone.
    .filter(([, { meta }]) => meta.preprocess.std !== undefined);

  test("there are recordings that tell it", () => expect(all.length).toBeGreaterThan(8));

  test.each(all)("$folder", (network, recording) => {
    const { mode, bgr, mean, std, inputWidth, inputHeight } = recording.meta.preprocess;
    const rule = ruleOf(parseConfig(network.config(recording)));
    const three = (value: number | readonly number[]): readonly number[] =>
      typeof value === "number" ? [value, value, value] : value;
    expect({
      size: rule.size ?? [inputWidth, inputHeight],
      resize: rule.resize ?? "letterbox",
      order: rule.order ?? "RGB",
      mean: three(rule.mean ?? 0),
      std: three(rule.std ?? 255),
    }).toEqual({
      size: [inputWidth, inputHeight],
      resize: mode === "topleft" ? "letterbox-topleft" : mode,
      order: bgr ? "BGR" : "RGB",
      mean,
      std,
    });
  });
});
