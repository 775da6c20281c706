#!/usr/bin/env bash
# Builds the library and its programs for one target into build/TARGET:
#
#     ./build.sh host|arm64|armhf|m3|m4|m7 [flags for the compiler...]
#
# Needs ../build/scalar.wasm and ../dist (npm run build in the folder above), wasm2c of the package wabt, and the
# target's gcc. Other flags than these would change the answers: -ffp-contract=off keeps products and sums apart, as
# WebAssembly and JavaScript do.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?got no target, expected host, arm64, armhf, m3, m4 or m7}
shift
OPTIMISE=${OPTIMISE:--O2}
flags=(-std=c11 "$OPTIMISE" -ffp-contract=off -ffunction-sections -fdata-sections -Wall -Wextra -Wshadow -Werror -Iinclude -Isrc -Ibuild "$@")
bare=(-mthumb -ffreestanding -nostdlib -Iboards/freestanding)
case $target in
  host) tools="" ;;
  arm64) tools=aarch64-linux-gnu- ; flags+=(-static) ;;
  armhf) tools=arm-linux-gnueabihf- ; flags+=(-static) ;;
  m3) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m3 "${bare[@]}") ;;
  m4) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 "${bare[@]}") ;;
  m7) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16 "${bare[@]}") ;;
  *) echo "build.sh: got target $target, expected host, arm64, armhf, m3, m4 or m7" >&2; exit 2 ;;
esac
out=build/$target
mkdir -p "$out"

compile() { # source, object, flags...
  local source=$1 object=$2
  shift 2
  "${tools}gcc" "${flags[@]}" "$@" -c "$source" -o "$out/$object"
}
blob() { # name, file
  "${tools}gcc" "${flags[@]}" -DBLOB_NAME="$1" -DBLOB_FILE="\"$2\"" -c test/blob.S -o "$out/$1.o"
}

# the library
node tools/translate.mjs "${KERNEL_WASM:-../build/scalar.wasm}" build/boxwright_kernel.c >/dev/null
compile build/boxwright_kernel.c boxwright_kernel.o
# the plain files of ours are held to more
compile src/boxwright.c boxwright.o -Wpedantic -Wconversion -Wcast-align
compile src/kernel.c kernel.o
library=("$out"/boxwright_kernel.o "$out"/boxwright.o "$out"/kernel.o)
link=(-Wl,--gc-sections)
case $target in
  m*)
    compile boards/freestanding/string.c string.o -fno-tree-loop-distribute-patterns
    for part in start console measure; do compile boards/$part.c $part.o; done
    library+=("$out"/{string,start,console,measure}.o -lgcc)
    link+=(-T boards/flash.ld)
    ;;
esac

# the programs
compile test/report.c report.o
blob cases build/cases.bin
compile test/conformance.c conformance.o
"${tools}gcc" "${flags[@]}" "${link[@]}" "$out"/{conformance,report,cases}.o "${library[@]}" -o "$out/conformance"
blob tensor test/tiny-face/out0.bin
node ../dist/cli.mjs compile test/tiny-face/config.json --outputs out0:1x13x13x25:f32 --c face --out build/face_plan.h 2>/dev/null
compile examples/face.c face.o
# a chip with this much; what does not fit does not link
case $target in m*) link+=(-Wl,--defsym=FLASH_BYTES=0x10000,--defsym=RAM_BYTES=0x10000,--defsym=STACK_BYTES=0x800) ;; esac
"${tools}gcc" "${flags[@]}" "${link[@]}" "$out"/{face,report,tensor}.o "${library[@]}" -o "$out/face"

# what it takes: code and constants of the library (kernel.c, the kernel, boxwright.c), and of the whole program on a board
total() { "${tools}size" "$@" | awk 'NR > 1 { text += $1; data += $2; bss += $3 } END { print text + data, data + bss }'; }
read -r code _ < <(total "$out"/{boxwright_kernel,boxwright,kernel}.o)
echo "size: $target ${OPTIMISE}${*:+ $*}: library $code bytes of code"
case $target in
  m*)
    read -r flash ram < <(total "$out/face")
    echo "size: $target ${OPTIMISE}${*:+ $*}: face example $flash bytes of flash (tensor in it: 16900), $ram bytes of RAM with a stack of 2048"
    ;;
esac
