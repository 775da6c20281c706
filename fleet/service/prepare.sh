#!/usr/bin/env bash
# Installs and builds what a part of the fleet needs and what is missing or has changed: prepare.sh PART. Called by
# start.sh of each part. Nothing is built twice, so a part that runs keeps its files.
set -eu
cd "$(dirname "$0")/.."
# onnxruntime-node has its CPU libraries with it. Its installation would download those for CUDA.
export ONNXRUNTIME_NODE_INSTALL="${ONNXRUNTIME_NODE_INSTALL:-skip}"
# Two installations at the same time would break each other: the second one waits.
if command -v flock >/dev/null; then
  exec 9>.preparing
  flock 9
fi
install() {
  [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-progress --no-audit --no-fund --loglevel error
}
{
  (cd .. && install && npm run --silent build)
  install
  cd "$1" && node ../service/build.js
} >&2
