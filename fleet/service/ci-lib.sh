# Shared by the ci.sh of every part: `. ../service/ci-lib.sh`. Counts checks, and ends with one line `N passed, N failed`.
set -u
export CI=true ONNXRUNTIME_NODE_INSTALL=skip ORT_DISABLE_TELEMETRY=1
passed=0
failed=0

# Runs one check: step NAME COMMAND...
step() {
  local name=$1
  shift
  echo "== $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# Runs the tests and adds their counts. At most so many may be skipped: what CI does not run, nobody runs.
tests() { # ALLOWED
  mkdir -p out
  rm -f out/tests.json
  npx vitest run --disable-console-intercept --reporter=default --reporter=json --outputFile.json=out/tests.json
  local code=$? counts p f skipped
  counts=$(node -e 'const r = require("./out/tests.json"); console.log(r.numPassedTests, r.numFailedTests + (r.numPassedTests === 0 ? 1 : 0), r.numPendingTests)') || return 1
  read -r p f skipped <<<"$counts"
  passed=$((passed + p))
  failed=$((failed + f))
  if [ "$skipped" -gt "$1" ]; then
    echo "got $skipped skipped tests, expected at most $1"
    return 1
  fi
  return "$code"
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
