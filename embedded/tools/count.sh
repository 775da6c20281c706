#!/usr/bin/env bash
# Counts the instructions of one bxw_decode per test case with callgrind, after tools/prepare.sh. The count does not
# depend on how busy the machine is. Prints one line per case.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/count
rm -rf "$out"
mkdir -p "$out"
flags=(-std=c11 -O2 -g -ffp-contract=off -Wall -Wextra -Werror -Iinclude -Isrc -Ibuild)
for cases in cases large; do
  gcc -DBLOB_NAME=cases -DBLOB_FILE="\"build/$cases.bin\"" -c test/blob.S -o "$out/$cases.o"
  gcc "${flags[@]}" test/count.c src/boxwright.c src/kernel.c build/boxwright_kernel.c "$out/$cases.o" -o "$out/$cases"
  # One file per decode: OUT.1, OUT.2, ...
  valgrind --tool=callgrind --toggle-collect=bxw_decode --dump-after=bxw_decode \
    --callgrind-out-file="$out/$cases.count" "$out/$cases" >"$out/$cases.txt" 2>"$out/$cases.log" ||
    { cat "$out/$cases.log" >&2; exit 1; }
  number=0
  while read -r line; do
    number=$((number + 1))
    count=$(sed -n 's/^summary: //p' "$out/$cases.count.$number")
    [ "${count:-0}" -gt 0 ] || { echo "count.sh: callgrind counted no instructions for $line" >&2; exit 1; }
    printf '%12d instructions  %s\n' "$count" "$line"
  done <"$out/$cases.txt"
done
