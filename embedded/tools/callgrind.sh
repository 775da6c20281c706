#!/usr/bin/env bash
# Instructions of one bxw_decode, by callgrind: the same on every run, whatever else the machine does.
#
#     tools/callgrind.sh            after tools/build.sh host and node test/make-cases.mjs [--large]
#
# Prints one line for each case. Counts only what runs inside of bxw_decode: not loading, not filling.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/count
mkdir -p "$out"
flags=(-std=c11 -O2 -g -ffp-contract=off -Wall -Wextra -Werror -Iinclude -Isrc -Ibuild "$@")
for file in cases large; do
  [ -f build/$file.bin ] || { echo "tools/callgrind.sh: got no build/$file.bin, expected it from node test/make-cases.mjs" >&2; exit 1; }
  gcc -DBLOB_NAME=cases -DBLOB_FILE="\"build/$file.bin\"" -c test/blob.S -o "$out/$file.o"
  gcc "${flags[@]}" test/count.c src/boxwright.c src/kernel.c build/boxwright_kernel.c "$out/$file.o" -o "$out/$file"
  for ((i = 0; ; i++)); do
    said=$(valgrind --tool=callgrind --toggle-collect=bxw_decode --callgrind-out-file=/dev/null "$out/$file" "$i" 2>&1) || {
      # exit code 3: there are no more cases
      if [ $? -eq 3 ] && [ "$i" -gt 0 ]; then break; fi
      echo "$said" >&2
      exit 1
    }
    count=$(sed -n 's/^==[0-9]*== Collected : *\([0-9]*\).*/\1/p' <<<"$said")
    [ "${count:-0}" -gt 0 ] || { echo "tools/callgrind.sh: got no count from valgrind, expected one: $said" >&2; exit 1; }
    printf '%12d instructions  %s\n' "$count" "$(grep -v '^==' <<<"$said")"
  done
done
