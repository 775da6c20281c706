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
# Compare what is installed with the lock file, not their times: a copy or another branch has a newer file that says the
# same. Packages for other processors are not installed.
is_installed() {
  node -e '
    const [wanted, here] = ["./package-lock.json", "./node_modules/.package-lock.json"].map((file) => require(file).packages);
    const isHere = ([path, { link, optional, version }]) =>
      !path.includes("node_modules/") || link || optional || here[path]?.version === version;
    process.exit(Object.entries(wanted).every(isHere) ? 0 : 1);' 2>/dev/null
}
install() {
  is_installed || npm ci --no-progress --no-audit --no-fund --loglevel error
}
{
  (cd .. && install && npm run --silent build)
  install
  cd "$1" && node ../service/build.js
} >&2
