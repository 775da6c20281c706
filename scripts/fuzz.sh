#!/usr/bin/env bash
# The specification against all engines on random cases: npm run fuzz -- [SECONDS] [SEED]
# Without words: two hours of a new seed. The seed is printed first and, after a failure, in its message.
# The three files run at the same time and share the seconds among their tests, so that the whole run takes them once.
set -eu
cd "$(dirname "$0")/.."
export BOXWRIGHT_FUZZ_SECONDS="${1:-7200}" BOXWRIGHT_FUZZ_SEED="${2:-$(date +%s)}"
[ -f build/scalar.wasm ] || npm run build:kernel
# A test may take all of the time, and one more case. A worker for each file, on fewer cores too: one that waits for
# another's end would double the time.
npx vitest run test/laws/differential test/laws/finished-rows --reporter=default --disable-console-intercept \
  --maxWorkers=3 --testTimeout $(((BOXWRIGHT_FUZZ_SECONDS + 600) * 1000))
echo "BOXWRIGHT_FUZZ_SEED=$BOXWRIGHT_FUZZ_SEED BOXWRIGHT_FUZZ_SECONDS=$BOXWRIGHT_FUZZ_SECONDS"
