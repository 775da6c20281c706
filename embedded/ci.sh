#!/usr/bin/env bash
# Builds and tests the C side everywhere it is said to run. Installs what it needs from Debian. Ends with one line:
# N passed, N failed.
set -u
cd "$(dirname "$0")"
export ONNXRUNTIME_NODE_INSTALL=skip
passed=0 failed=0
mkdir -p build
rm -f build/sizes.txt

fail() { failed=$((failed + 1)); echo "FAILED: $*"; }
# name, command...: a check of its own; what it printed is shown where it fails
step() {
  local name=$1; shift
  if "$@" >build/step.log 2>&1; then passed=$((passed + 1)); echo "ok: $name"
  else fail "$name"; tail -n 40 build/step.log; fi
}
# name, command...: one that ends with "N passed, N failed" itself; without that line, or with another exit code than
# the line says, it has failed
counted() {
  local name=$1; shift
  "$@" >build/step.log 2>&1
  local code=$? line p f
  line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' build/step.log | tail -n 1)
  p=${line%% passed*} f=${line##*, }; f=${f%% failed*}
  if [ -z "$line" ] || [ "$p" -eq 0 ]; then fail "$name: no count"; tail -n 40 build/step.log; return; fi
  passed=$((passed + p)) failed=$((failed + f))
  if [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then fail "$name: exit code $code"; fi
  if [ "$code" -ne 0 ] || [ "$f" -ne 0 ]; then tail -n 40 build/step.log; else echo "ok: $name: $line"; fi
  grep -aE '^measured: ' build/step.log | sed "s/^/$name: /" >>build/sizes.txt
}

./debian.sh >build/apt.log 2>&1 || { tail -n 20 build/apt.log; fail "packages"; echo "$passed passed, $failed failed"; exit 1; }

# the JavaScript side: plans are made by its command, cases by its engines
[ -d ../node_modules ] || step "npm ci" bash -c 'cd .. && npm ci'
step "npm run build" bash -c 'cd .. && npm run build'
step "header as src/core/abi.ts says" node ../scripts/embedded-header.mjs --check
step "header on its own, in C and C++" bash -c 'for l in c++ c; do echo "#include \"boxwright.h\"" | gcc -x $l -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only -; done'
step "cases" node test/make-cases.mjs
step "large cases" node test/make-cases.mjs --large

for target in host arm64 armhf m3 m4 m7; do
  for variant in "-O2" "-Os" "-Os -DBXW_UNCHECKED"; do
    read -r optimise rest <<<"$variant"
    # shellcheck disable=SC2086
    OPTIMISE=$optimise step "build $target $variant" tools/build.sh "$target" $rest
    grep -a '^size: ' build/step.log >>build/sizes.txt
    counted "$target $variant: cases" tools/run.sh "$target" conformance
    counted "$target $variant: face" tools/run.sh "$target" face
  done
done

# with the address and undefined-behaviour sanitizers, on this machine
step "build with sanitizers" tools/build.sh host -g -fsanitize=address,undefined -fno-sanitize-recover=all
counted "sanitizers: cases" tools/run.sh host conformance

# Plans with one forged word each. The same program without bounds checks must be stopped by the sanitizer.
forged() { # output, flags...
  local output=build/host/$1
  shift
  gcc -std=c11 -O1 -g -ffp-contract=off -Wall -Wextra -Wshadow -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
    -Iinclude -Isrc -Ibuild "$@" test/{forged,report}.c src/boxwright.c src/kernel.c build/boxwright_kernel.c build/host/cases.o -o "$output"
}
step "build forged plans" forged forged
counted "forged plans" timeout 120 build/host/forged
unchecked() { forged forged-unchecked -DBXW_UNCHECKED && ! timeout 120 build/host/forged-unchecked >build/spoilt.log 2>&1 && grep -aq 'ERROR: AddressSanitizer' build/spoilt.log; }
step "forged plans without bounds checks are seen" unchecked

# A test that cannot fail is none: one bit of an expected score turned over has to be seen, on a system and on a board.
spoilt() {
  local target=$1
  cp build/cases.bin build/whole.bin
  node test/spoil.mjs build/whole.bin build/cases.bin
  tools/build.sh "$target" && ! tools/run.sh "$target" conformance >build/spoilt.log 2>&1 && grep -aq '^FAILED: tiny-face: scores of other bits: got 1, expected 0$' build/spoilt.log
  local code=$?
  mv build/whole.bin build/cases.bin
  return $code
}
for target in host arm64 armhf m4; do step "a wrong bit is seen: $target" spoilt "$target"; done
# a chip too small must not link
too_small() { ! arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -nostdlib -T boards/flash.ld -Wl,--defsym=RAM_BYTES=0xc000 \
  build/m4/{face,report,tensor,boxwright_kernel,boxwright,kernel,string,start,console,measure}.o -lgcc -o build/too-small 2>build/link.log && grep -q 'RAM: got more than RAM_BYTES' build/link.log; }
step "48 KiB of RAM are refused by the linker" too_small

step "build host -O2" tools/build.sh host
if tools/callgrind.sh >build/callgrind.txt 2>&1; then passed=$((passed + 1)); else fail "callgrind"; fi

echo
cat build/sizes.txt
echo
echo "instructions of one decode, x86-64, -O2:"
cat build/callgrind.txt
echo
# figures move with every change of the kernel, so a difference is said and fails nothing
node tools/measure.mjs --compare
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
