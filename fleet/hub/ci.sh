#!/usr/bin/env bash
# Every check of the hub, after `npm ci` in the folder above.
cd "$(dirname "$0")"
. ../service/ci-lib.sh
export HUB_CI=1

step "build" npm run --silent build:scripts
step "types, lint, format" npm run --silent check
step "tests" tests 0
step "load" npm run --silent load -- --short
step "as its systemd unit runs it" node ../as-unit.mjs hub
finish
