/**
 * Compares the detections of a decoder with the conformance set:
 *
 *     node conformance/run.mjs ANSWERS.json      # {"case id": [detection, ...]} of a decoder in any language
 *     node conformance/run.mjs DECODER.mjs       # a module that decodes, as those in decoders/
 *
 * README.md beside this file describes a case, and the detections that a decoder has to return.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const ARRAYS = {
  f32: Float32Array,
  f16: Uint16Array,
  i8: Int8Array,
  u8: Uint8Array,
  i32: Int32Array,
  i64: BigInt64Array,
};
const EDGES = ["x_min", "y_min", "x_max", "y_max"];

/** Reads the set. `read` returns the bytes of one of its files. */
export function loadSet(read = (file) => readFileSync(new URL(file, import.meta.url))) {
  const set = JSON.parse(read("set.json").toString());
  const load = ({ file, ...tensor }) => ({
    ...tensor,
    data: new ARRAYS[tensor.type](Uint8Array.from(gunzipSync(read(file))).buffer),
  });
  return { ...set, cases: set.cases.map((c) => ({ ...c, tensors: c.tensors.map(load) })) };
}

// Clamp both sides before comparing: decoders may clamp, or not, and both are right.
const clamp = (x) => Math.min(1, Math.max(0, x));
const furthest = (pairs) => pairs.reduce((most, [a, b]) => Math.max(most, Math.abs(a - b)), 0);

function distance(found, wanted) {
  const points = (d) => (d.keypoints ?? []).map(([x, y]) => [clamp(x), clamp(y)]).flat();
  const [a, b] = [points(found), points(wanted)];
  const edges = EDGES.map((edge) => [clamp(found[edge]), clamp(wanted[edge])]);
  // Count a NaN as the largest distance.
  const corners = furthest(edges);
  const keypoints = b.length === 0 ? 0 : a.length === b.length ? furthest(a.map((x, i) => [x, b[i]])) : 1;
  const sure = (x) => (Number.isNaN(x) ? 1 : x);
  return {
    box: sure(Math.max(corners, keypoints)),
    score: sure(Math.abs(found.confidence - wanted.confidence)),
  };
}

/**
 * Compares detections with an answer, in any order. Each wanted detection is paired with the nearest found one of its
 * class that has no pair yet. Boxes further apart than `far` are no pair. Returns the counts without a pair, and the
 * largest differences: of corners and points as a part of the input, and of scores.
 */
export function compare(found, wanted, far = 0.1) {
  const left = [...found];
  const result = { missing: 0, extra: 0, box: 0, score: 0 };
  for (const d of wanted) {
    const near = left
      .filter((f) => f.class_id === d.class_id)
      .map((f) => ({ f, ...distance(f, d) }))
      .sort((a, b) => a.box + a.score - b.box - b.score)[0];
    if (near === undefined || near.box > far) {
      result.missing++;
      continue;
    }
    left.splice(left.indexOf(near.f), 1);
    result.box = Math.max(result.box, near.box);
    result.score = Math.max(result.score, near.score);
  }
  return { ...result, extra: left.length };
}

const isRight = (r, tolerance) =>
  r.missing === 0 && r.extra === 0 && r.box <= tolerance && r.score <= tolerance;

/** Judges detections by answers, all of which have to be right. */
function judge(c, answers, detectionsFor) {
  const results = answers.map((a) => ({ rules: a.rules, ...compare(detectionsFor(a), a.detections) }));
  const wrong = results.find((r) => !isRight(r, c.tolerance));
  return wrong
    ? { outcome: "wrong", ...wrong }
    : { outcome: "right", rules: answers.map((a) => a.rules).join(", ") };
}

/**
 * Runs a decoder over the set. `decoder.rules` names the rules that the decoder follows; absent if it can be told each.
 * `decoder.decode(case, answer)` returns detections, or undefined for a network that it does not claim to read.
 */
export async function runSet(decoder, set) {
  const outcomes = {};
  for (const c of set.cases) {
    const answers = c.answers.filter((a) => decoder.rules?.includes(a.rules) ?? true);
    const found = new Map();
    try {
      for (const a of answers) found.set(a, await decoder.decode(c, a));
      outcomes[c.id] =
        answers.length === 0 || [...found.values()].includes(undefined)
          ? { outcome: "not read" }
          : judge(c, answers, (a) => found.get(a));
    } catch (e) {
      outcomes[c.id] = { outcome: "refused", message: String(e.message ?? e).split("\n", 1)[0] };
    }
  }
  return outcomes;
}

/** Makes a decoder of the detections in a file. The detections may follow any of the rules of a case. */
function decoderOf(answers, set) {
  const best = (c) =>
    c.answers.find((a) => isRight(compare(answers[c.id] ?? [], a.detections), c.tolerance)) ?? c.answers[0];
  const judged = set.cases.map((c) => ({ ...c, answers: [best(c)] }));
  return [{ decode: (c) => answers[c.id] }, { ...set, cases: judged }];
}

async function main([file]) {
  if (file === undefined) throw new Error("got no file, expected: run.mjs ANSWERS.json or DECODER.mjs");
  const set = loadSet();
  const [decoder, judged] = file.endsWith(".json")
    ? decoderOf(JSON.parse(readFileSync(file, "utf8")), set)
    : [await (await import(pathToFileURL(resolve(file)).href)).open(), set];
  const outcomes = await runSet(decoder, judged);
  for (const [id, { outcome, ...rest }] of Object.entries(outcomes))
    console.log(id.padEnd(36), outcome, outcome === "right" ? "" : JSON.stringify(rest));
  const count = (name) => Object.values(outcomes).filter((o) => o.outcome === name).length;
  console.log(
    `set ${set.version}: ${count("right")} right, ${count("wrong")} wrong, ${count("refused")} refused, ${count("not read")} not read`,
  );
  if (count("wrong") + count("refused") > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.slice(2));
