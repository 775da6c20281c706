#!/usr/bin/env bash
# Every check of the agent, after `npm ci` in the folder above, with boxwright built. Ends with one line
# `N passed, N failed`, and exits non-zero when anything failed.
set -u
cd "$(dirname "$0")"
export CI=true ONNXRUNTIME_NODE_INSTALL=skip
passed=0
failed=0

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

tests() {
  mkdir -p out
  rm -f out/tests.json
  npx vitest run --reporter=default --reporter=json --outputFile.json=out/tests.json
  local code=$?
  local counts
  counts=$(node -e 'const r = require("./out/tests.json"); console.log(r.numPassedTests, r.numFailedTests + (r.numPassedTests === 0 ? 1 : 0), r.numPendingTests)') || return 1
  read -r p f skipped <<<"$counts"
  passed=$((passed + p))
  failed=$((failed + f))
  # What CI does not run, nobody runs. The recorded networks alone are not in the repository.
  local allowed=0
  [ -n "${BOXWRIGHT_SHARED:-}" ] || allowed=1
  if [ "$skipped" -gt "$allowed" ]; then
    echo "got $skipped skipped tests, expected at most $allowed"
    return 1
  fi
  return "$code"
}

step "build" npm run --silent build
step "types, lint, format" npm run --silent check
step "tests" tests

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
