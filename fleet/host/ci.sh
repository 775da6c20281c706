#!/usr/bin/env bash
# Every check of the host, after `npm ci` in the folder above, with boxwright built.
cd "$(dirname "$0")"
. ../service/ci-lib.sh
export BOXWRIGHT_HOST_CI=1

# test/fleet runs agent and hub too.
step "agent" npm run --silent build --workspace boxwright-agent --prefix ..
step "hub" npm run --silent build --workspace boxwright-hub --prefix ..
step "build" npm run --silent build
step "types, lint, format" npm run --silent check
step "tests" tests 0
step "as its systemd unit runs it" node ../as-unit.mjs host
finish
