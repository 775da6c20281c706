#!/usr/bin/env bash
# Every check of the agent, after `npm ci` in the folder above, with boxwright built.
cd "$(dirname "$0")"
. ../service/ci-lib.sh

step "build" npm run --silent build
step "types, lint, format" npm run --silent check
# The recorded networks are not in the repository.
step "tests" tests $([ -n "${BOXWRIGHT_SHARED:-}" ] && echo 0 || echo 1)
step "as its systemd unit runs it" node ../as-unit.mjs agent
finish
