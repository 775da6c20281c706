/**
 * Checks of what stands beside the decoder: suppression, tiles and tracking. Plain
 * JavaScript that asks nothing of its runtime but the language. The numbers are those of docs and tests.
 */

/** Count of checks. */
export const CHECKS = 6;

const near = (a, b) => Math.abs(a - b) < 1e-5;

/**
 * @param {object} boxwright the module
 * @returns {{engine: "ts", engines: ["ts"], passed: number, failed: number, failures: string[]}}
 */
export function runBeside(boxwright) {
  const failures = [];
  let passed = 0;
  const check = (name, holds) => {
    let problem = "";
    try {
      const got = holds();
      if (got !== true) problem = `got ${JSON.stringify(got)}`;
    } catch (e) {
      problem = String(e);
    }
    if (problem === "") passed++;
    else failures.push(`${name}: ${problem}`);
  };

  const boxes = [0, 0, 10, 10, 2, 0, 12, 10, 20, 0, 30, 10];
  const scores = [0.9, 0.8, 0.7];
  check("suppress", () => {
    const soft = boxwright.suppress(boxes, scores, { method: "soft-gaussian", sigma: 0.5 });
    const matrix = boxwright.suppress(boxes, scores, { method: "matrix", kernel: "linear" });
    const weighted = boxwright.suppress(boxes, scores, { method: "weighted" });
    const values = [soft.scores[2], matrix.scores[2], weighted.boxes[0]];
    return [0.32889, 0.266667, 0.941176].every((v, i) => near(v, values[i])) || values;
  });
  check("fuse", () => {
    const { scores: fused } = boxwright.fuse([
      { boxes: [0, 0, 10, 10], scores: [0.8] },
      { boxes: [0, 0, 10, 10], scores: [0.4] },
    ]);
    return (fused.length === 1 && near(fused[0], 0.6)) || Array.from(fused);
  });
  check("oriented", () => {
    const pair = [0, 0, 50, 20, 0.3, 5, 3, 48, 22, 0.4];
    const kinds = ["polygon", "probiou"];
    const overlaps = kinds.map((kind) => boxwright.orientedIou(pair.slice(0, 5), pair.slice(5), kind));
    const kept = boxwright.nmsOriented(pair, [0.9, 0.8]);
    return (near(overlaps[0], 0.691604) && near(overlaps[1], 0.822876) && kept.length === 1) || overlaps;
  });
  check("tiles", () => {
    const size = [1000, 700];
    const plan = boxwright.tiles(size, { tile: 512 });
    const found = boxwright.mergeTiles(size, []);
    return (plan.length === 6 && plan[5].x === 488 && plan[5].y === 188 && found.length === 0) || plan;
  });
  check("track", () => {
    const answers = ["sort", "bytetrack", "ocsort"].map((method) => {
      const tracker = boxwright.createTracker({ method });
      const ids = [];
      for (let i = 0; i < 6; i++) {
        const pair = [10 + i, 10, 50 + i, 90, 200 - i, 20, 240 - i, 80];
        ids.push(Array.from(tracker.update({ length: 2, boxes: pair, scores: [0.9, 0.8] }, i / 30)).join());
      }
      return ids[5];
    });
    return answers.every((ids) => ids === "1,2") || answers;
  });
  check("refusals", () => {
    const calls = [
      () => boxwright.suppress(boxes, scores, { method: "softer" }),
      () => boxwright.tiles([10, 10], { tile: 0 }),
      () => boxwright.createTracker({ method: "toString" }),
    ];
    return calls.every((call) => {
      try {
        call();
        return false;
      } catch (e) {
        return e instanceof RangeError && /got .*, expected /.test(e.message);
      }
    });
  });
  return { engine: "ts", engines: ["ts"], passed, failed: failures.length, failures };
}
