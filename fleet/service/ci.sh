#!/usr/bin/env bash
# Every check of what the services share, after `npm ci` in the folder above.
cd "$(dirname "$0")"
. ./ci-lib.sh

step "build" npm run --silent build
step "types, lint, format" npm run --silent check
step "tests" tests 0
finish
