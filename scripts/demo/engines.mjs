/** Runs one job on each engine, times the runs, and compares the answers. */
const ENGINES = ["simd", "scalar", "ts"];

/**
 * Runs a job on each engine.
 * @param rounds how often each engine is timed
 * @param open returns { engine, run, answer, end }: `run` is timed, and may return a promise; `answer` returns the
 * parts that must be equal on all engines; `end` is optional and frees memory
 * @returns the runs with their medians in microseconds, the first answer, and whether all answers are equal
 */
export async function runEngines(rounds, open) {
  const runs = [];
  for (const wanted of ENGINES) {
    const { engine, run, answer, end } = await open(wanted);
    runs.push({ engine, answer: answer(), us: await median(run, rounds) });
    await end?.();
  }
  const [first, ...others] = runs.map(({ answer }) => JSON.stringify(answer));
  return { runs, answer: runs[0].answer, same: others.every((other) => other === first) };
}

/** Returns the median over the second half of the rounds: the first half is a warm-up. */
async function median(run, rounds) {
  const times = [];
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    const ended = run();
    if (ended instanceof Promise) await ended;
    times.push((performance.now() - start) * 1000);
  }
  const late = times.slice(rounds >> 1).sort((a, b) => a - b);
  return late[late.length >> 1];
}
