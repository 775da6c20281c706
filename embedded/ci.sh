#!/usr/bin/env bash
# Builds and tests the C side on every target. Installs the Debian packages it needs. Ends with one line:
# N passed, N failed. Runs JOBS checks at a time, by default one per processor.
set -u
cd "$(dirname "$0")"
export ONNXRUNTIME_NODE_INSTALL=skip
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 checks=0
rm -rf build
mkdir -p build/checks

# Starts a check in the background: check NAME COUNTS COMMAND... The check passes if the command exits with 0 and prints
# COUNTS lines "N passed, N failed".
check() {
  local log=build/checks/$((++checks))
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  echo "$1" >$log.name
  echo "$2" >$log.counts
  { ("${@:3}") >$log.out 2>&1; echo $? >$log.code; } &
}

# Waits for the checks that were started and adds up their results. Shows the output of those that failed.
collect() {
  local i log name code lines p f
  wait
  for ((i = collected + 1; i <= checks; i++)); do
    log=build/checks/$i
    read -r name <$log.name
    code=$(<$log.code)
    lines=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' $log.out)
    read -r p f < <(awk '{ p += $1; f += $3 } END { print p + 0, f + 0 }' <<<"$lines")
    # A missing count is a failure, and so is an exit code that the counts do not explain.
    if [ "$(grep -c . <<<"$lines")" -ne "$(<$log.counts)" ]; then f=$((f + 1)); fi
    if [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    [ -n "$lines" ] || p=$((f == 0))
    passed=$((passed + p)) failed=$((failed + f))
    if [ "$f" -eq 0 ]; then echo "ok: $name${lines:+: $p passed}"
    else tail -n 60 $log.out; echo "FAILED: $name (exit code $code)"; fi
  done
  collected=$checks
}
collected=0
finish() { echo "$passed passed, $failed failed"; [ "$failed" -eq 0 ]; exit; }

# The tests and the examples on one target. face.txt, fomo.txt and size.json are for tools/measure.mjs.
run_target() { # target, variant
  tools/build.sh "$1" "$2" || return
  tools/run.sh "$1" "$2" conformance || return
  tools/run.sh "$1" "$2" elementary || return
  tools/run.sh "$1" "$2" face | tee "build/$1-$2/face.txt"
  [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
  tools/run.sh "$1" "$2" fomo | tee "build/$1-$2/fomo.txt"
  return "${PIPESTATUS[0]}"
}

# A test must be able to fail: one wrong bit in an expected score is reported.
sees_wrong_bit() { # target
  ! tools/run.sh "$1" O2 conformance-spoilt >"build/$1-O2/spoilt.txt" 2>&1 &&
    grep -aq '^FAILED: tiny-face: scores with other bits: got 1, expected 0$' "build/$1-O2/spoilt.txt"
}

# The library, the example and forged plans, under the address and undefined-behaviour sanitizers.
run_sanitized() { run_target host sanitized && timeout 300 tools/run.sh host sanitized forged; }

# Without bounds checks the address sanitizer must stop the forged plans.
sees_missing_checks() {
  gcc -std=c11 -fsanitize=address -DBXW_UNCHECKED -Iinclude -Isrc -Ibuild test/{forged,report}.c src/*.c \
    build/boxwright_kernel.c -DBLOB_NAME=cases -DBLOB_FILE='"build/cases.bin"' test/blob.S -o build/unchecked &&
    ! timeout 120 build/unchecked >build/unchecked.txt 2>&1 && grep -aq 'ERROR: AddressSanitizer' build/unchecked.txt
}

# Memory must not be smaller than the linker script says: the face example needs more than 48 KiB of RAM.
refuses_small_ram() {
  ! arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -nostdlib -T boards/flash.ld \
    -Wl,--defsym=RAM_BYTES=0xc000 build/m4-O2/{face,report,face-tensor,boxwright_kernel,boxwright,kernel}.o \
    build/m4-O2/{string,start,console}.o -lgcc -o build/too-small 2>build/link.txt &&
    grep -q 'the program needs more than RAM_BYTES' build/link.txt
}

public_header() { # language
  echo '#include "boxwright.h"' | gcc -x "$1" -Wall -Wextra -Wpedantic -Werror -Iinclude -Ibuild -fsyntax-only -
}

check "Debian packages" 0 ./debian.sh
collect
[ "$failed" -eq 0 ] || finish
check "kernel as C, plans and cases" 0 tools/prepare.sh
collect
[ "$failed" -eq 0 ] || finish

check "host sanitized, forged plans" 5 run_sanitized
check "missing bounds checks are seen" 0 sees_missing_checks
check "count of instructions" 0 bash -c 'tools/count.sh >build/instructions.txt'
check "count of instructions under QEMU" 0 bash -c 'node tools/speed.mjs boxes-i8 >build/speed.txt'
for target in host arm64 armhf m3 m4 m7; do
  for variant in O2 Os Os-unchecked; do check "$target $variant" 4 run_target "$target" "$variant"; done
done
check "public header in C" 0 public_header c
check "public header in C++" 0 public_header c++
collect

for target in host arm64 armhf m3 m4 m7; do check "a wrong bit is seen: $target" 0 sees_wrong_bit "$target"; done
check "48 KiB of RAM are refused by the linker" 0 refuses_small_ram
check "figures.md" 0 node tools/measure.mjs --check
collect
finish
