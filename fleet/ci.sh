#!/usr/bin/env bash
# Everything, on a fresh Debian machine with Node 20 or newer: installs what it needs, runs every check of all parts,
# and ends with one line `N passed, N failed`. Exits non-zero when anything failed. boxwright, in the folder above, is
# built if it is not. `./ci.sh host` checks that part alone.
set -u
cd "$(dirname "$0")"
export CI=true ONNXRUNTIME_NODE_INSTALL=skip
passed=0 failed=0
log=$(mktemp -d)
parts=("$@")
[ $# -gt 0 ] || parts=(service hub agent host)

# Runs one check: step NAME COMMAND...
step() {
  local name=$1; shift
  echo "== $name"
  if "$@"; then passed=$((passed + 1)); else echo "FAILED: $name"; failed=$((failed + 1)); fi
}

boxwright() { [ -f ../dist/index.mjs ] || (cd .. && { [ -d node_modules ] || npm ci --no-progress; } && npm run --silent build); }

for part in "${parts[@]}"; do [ ! -f $part/debian.sh ] || step "Debian packages: $part" $part/debian.sh; done
step "boxwright" boxwright
step "install" npm ci --no-progress

# A part prints "N passed, N failed" last. One without such a line has failed, and so has one whose exit code its counts
# do not explain.
for part in "${parts[@]}"; do
  SECONDS=0
  bash $part/ci.sh 2>&1 | tee "$log/$part"
  code=${PIPESTATUS[0]}
  p=0 f=1
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log/$part" | tail -n 1)
  [ -z "$line" ] || read -r p _ f _ <<<"$line"
  [ "$code" -eq 0 ] || [ "$f" -gt 0 ] || f=1
  passed=$((passed + p)) failed=$((failed + f))
  [ "$f" -eq 0 ] || echo "FAILED: $part"
  echo "$part took $((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))"
done
[ $# -gt 0 ] || step "packed: installed from tarballs into a clean folder, and running" node packed.mjs
[ $# -gt 0 ] || step "images: built or replayed, started, healthy, and stopped" node images.mjs
rm -r "$log"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
