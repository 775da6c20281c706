#!/usr/bin/env bash
# Writes into build/ what the builds of all targets share: the kernel as C, its header, the plans of the examples,
# their tensors, and the test cases. Builds the package first if it is missing or older than its sources.
set -euo pipefail
cd "$(dirname "$0")/.."
built=../dist/cli.mjs
is_built() {
  [ -f "$built" ] && [ -f ../build/scalar.wasm ] && [ -z "$(find ../src ../assembly -newer "$built" -print -quit)" ]
}
is_built || (cd .. && npm run build)
node tools/translate.mjs ../build/scalar.wasm build
node "$built" compile examples/face.json --outputs out0:1x13x13x25:f32 --c face --out build/face_plan.h
node "$built" compile examples/fomo.json --outputs map:1x12x12x2:i8:0.00390625,-128 --c fomo --out build/fomo_plan.h
node test/make-cases.mjs
