#!/usr/bin/env bash
# Starts the agent from a clone: installs and builds what is missing, then runs the command with the arguments given.
set -eu
# onnxruntime-node has its CPU libraries with it. Its installation would download those for CUDA.
export ONNXRUNTIME_NODE_INSTALL="${ONNXRUNTIME_NODE_INSTALL:-skip}"
folder=$(cd "$(dirname "$0")" && pwd)
install() {
  [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-progress --no-audit --no-fund --loglevel error
}
(cd "$folder/../.." && install && npm run --silent build) >&2
(cd "$folder/.." && install && cd agent && npm run --silent build) >&2
exec node "$folder/dist/cli/main.js" "$@"
