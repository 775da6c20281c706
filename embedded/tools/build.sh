#!/usr/bin/env bash
# Builds the library, its tests and the face example for one target into build/TARGET-VARIANT:
#
#     tools/build.sh host|arm64|armhf|m3|m4|m7 O2|Os|Os-unchecked|sanitized        after tools/prepare.sh
#
# -ffp-contract=off keeps multiplication and addition apart, as WebAssembly and JavaScript do. Without it the detections
# change.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?no target: expected host, arm64, armhf, m3, m4 or m7}
variant=${2:?no variant: expected O2, Os, Os-unchecked or sanitized}
flags=(-std=c11 -ffp-contract=off -ffunction-sections -fdata-sections)
flags+=(-Wall -Wextra -Wshadow -Werror -Iinclude -Isrc -Ibuild)
bare=(-mthumb -ffreestanding -nostdlib -Iboards/freestanding)
case $target in
  host) tools="" ;;
  arm64) tools=aarch64-linux-gnu- ; flags+=(-static) ;;
  armhf) tools=arm-linux-gnueabihf- ; flags+=(-static) ;;
  m3) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m3 "${bare[@]}") ;;
  m4) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 "${bare[@]}") ;;
  m7) tools=arm-none-eabi- ; flags+=(-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16 "${bare[@]}") ;;
  *) echo "build.sh: unknown target $target: expected host, arm64, armhf, m3, m4 or m7" >&2; exit 2 ;;
esac
case $variant in
  O2) flags+=(-O2) ;;
  Os) flags+=(-Os) ;;
  Os-unchecked) flags+=(-Os -DBXW_UNCHECKED) ;;
  sanitized) flags+=(-O1 -fsanitize=address,undefined -fno-sanitize-recover=all) ;;
  *) echo "build.sh: unknown variant $variant: expected O2, Os, Os-unchecked or sanitized" >&2; exit 2 ;;
esac
out=build/$target-$variant
mkdir -p "$out"

compile() { # source, object, flags...
  "${tools}gcc" "${flags[@]}" "${@:3}" -c "$1" -o "$out/$2"
}
embed() { # symbol, file: the file as an array in an object
  compile test/blob.S "$(basename "$2" .bin).o" -DBLOB_NAME="$1" -DBLOB_FILE="\"$2\""
}
link() { # program, arguments of the linker...
  "${tools}gcc" "${flags[@]}" -Wl,--gc-sections "${@:2}" "${library[@]}" -o "$out/$1"
}

# The library. Sources written by hand get stricter warnings than the translated kernel.
compile build/boxwright_kernel.c boxwright_kernel.o
compile src/boxwright.c boxwright.o -Wpedantic -Wconversion -Wcast-align
compile src/oriented.c oriented.o -Wpedantic -Wconversion -Wcast-align
compile src/cells.c cells.o -Wpedantic -Wconversion -Wcast-align
compile src/kernel.c kernel.o
library=("$out"/{boxwright_kernel,boxwright,oriented,cells,kernel}.o)
board=() small=()
case $target in
  m*)
    compile boards/freestanding/string.c string.o -fno-tree-loop-distribute-patterns
    for part in start console measure; do compile boards/$part.c $part.o; done
    library+=("$out"/{string,start,console}.o -lgcc)
    board=(-T boards/flash.ld)
    # The face example must link for 64 KiB of flash and of RAM. measure.c reports what its decode needs.
    small=(-Wl,--defsym=FLASH_BYTES=0x10000,--defsym=RAM_BYTES=0x10000,--defsym=STACK_BYTES=0x800
      "$out/measure.o" -Wl,--wrap=bxw_decode -Wl,--wrap=bxw_decode_cells)
    ;;
esac

# The programs. conformance-spoilt expects one wrong bit.
compile test/report.c report.o
compile test/conformance.c conformance.o
compile test/elementary.c elementary.o -fno-math-errno
compile examples/face.c face.o
compile examples/fomo.c fomo.o
embed cases build/cases.bin
embed cases build/cases-spoilt.bin
embed tensor build/face-tensor.bin
embed tensor build/fomo-tensor.bin
link conformance "${board[@]}" "$out"/{conformance,report,cases}.o
link elementary "${board[@]}" "$out"/{elementary,report}.o
link conformance-spoilt "${board[@]}" "$out"/{conformance,report,cases-spoilt}.o
link face "${board[@]}" "${small[@]}" "$out"/{face,report,face-tensor}.o
link fomo "${board[@]}" "${small[@]}" "$out"/{fomo,report,fomo-tensor}.o

if [ "$variant" = sanitized ]; then
  compile test/forged.c forged.o
  link forged "$out"/{forged,report,cases}.o
fi

# Code and constants of the library and of oriented boxes, and flash and RAM of the whole example.
bytes() {
  "${tools}size" "$@" | awk 'NR > 1 { text += $1; data += $2; bss += $3 } END { print text + data, data + bss }'
}
read -r code _ < <(bytes "$out"/{boxwright_kernel,boxwright,kernel}.o)
read -r oriented _ < <(bytes "$out/oriented.o")
read -r cells _ < <(bytes "$out/cells.o")
read -r flash ram < <(bytes "$out/face")
read -r fomo_flash fomo_ram < <(bytes "$out/fomo")
printf '{"library": %s, "oriented": %s, "cells": %s, "flash": %s, "ram": %s, "fomoFlash": %s, "fomoRam": %s}\n' \
  "$code" "$oriented" "$cells" "$flash" "$ram" "$fomo_flash" "$fomo_ram" >"$out/size.json"
