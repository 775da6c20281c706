#!/usr/bin/env bash
# Every figure of README.md, docs/performance.md and docs/recipes.md, measured and written there.
#
#   npm run bench:all                  everything (an hour or so, most of it counting instructions)
#   npm run bench:all -- times sweeps  some of: times memory recipes sweeps instructions
#
# It goes in pieces of about a minute, each of which adds to bench/report. BENCH_WRAP is put before each piece
# that measures time, a command that pins it to a core, say, or waits until nobody else computes;
# BENCH_WRAP_OTHER before each that counts something else. BENCH_FLAGS goes to the rows of the benchmark, for
# instance "--quick".
set -euo pipefail
cd "$(dirname "$0")/.."
run() { # a piece; what went wrong is shown, the rest is in the reports
  "$@" --append >bench/report/log 2>&1 || { cat bench/report/log; exit 1; }
  grep -E 'MISMATCH|FAILED|CLIFF|missing' bench/report/log || true
}
typescript=(node --import ./bench/ts.mjs --no-warnings)
mkdir -p bench/report
[ $# -gt 0 ] || set -- times memory recipes sweeps instructions

for part in "$@"; do
  echo "== $part"
  case $part in
    times)
      for workload in v8@.25 v8@.001 v5@.25 v5@.001 v3@.25 v3@.001 v8-f16 v8-int8 nms-100 nms-1000 nms-8400 nms-25200; do
        run ${BENCH_WRAP:-} "${typescript[@]}" bench/run.ts ${BENCH_FLAGS:-} --only "$workload"
      done
      ;;
    memory)
      run ${BENCH_WRAP_OTHER:-} "${typescript[@]}" bench/memory.ts --only garbage,memory,sizes
      run ${BENCH_WRAP:-} "${typescript[@]}" bench/memory.ts --only start
      ;;
    recipes)
      for recipe in ort-node,ort-web tfjs,tflite litert,webnn; do
        run ${BENCH_WRAP:-} "${typescript[@]}" bench/recipes.ts --only "$recipe"
      done
      ;;
    sweeps)
      for sweep in boxes boxes-all-kept boxes-alike boxes-apart boxes-apart-capped classes cells batch \
        cells-all-pass cells-all-alike rows-all-pass threshold-v8 threshold-v5 threshold-v3; do
        run ${BENCH_WRAP:-} "${typescript[@]}" bench/sweeps.ts --only "$sweep"
      done
      ;;
    instructions)
      rm -f bench/report/instructions.tsv
      for workload in v8@.25 v8@.001 v8-int8@.25 v5@.25 v3@.25 nms-1000; do
        ${BENCH_WRAP_OTHER:-} bash bench/instructions.sh "$workload"
      done
      ;;
    *)
      echo "part: got $part, expected times, memory, recipes, sweeps or instructions"
      exit 2
      ;;
  esac
done
"${typescript[@]}" bench/publish-all.ts
