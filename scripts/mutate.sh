#!/usr/bin/env bash
# Mutation tests of src/: npm run mutate -- [--mutate "src/plan/*.ts"]. They take hours for all of it.
# Stryker is installed for the run alone: 180 packages that nothing else needs.
set -eu
cd "$(dirname "$0")/.."
npm install --no-save @stryker-mutator/core@9 @stryker-mutator/vitest-runner@9
BOXWRIGHT_TESTS=all npx stryker run scripts/stryker.config.mjs "$@"
