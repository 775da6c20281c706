#!/usr/bin/env bash
# Runs a program that build.sh made: tools/run.sh TARGET VARIANT PROGRAM. qemu-user and qemu-system-arm emulate targets.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?no target} variant=${2:?no variant} program=${3:?no program}
path=build/$target-$variant/$program
board() { # machine of QEMU. Semihosting returns text and exit code.
  timeout 600 qemu-system-arm -machine "$1" -nographic -monitor none -serial none -icount shift=0 \
    -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console -kernel "$path"
}
case $target in
  host) "$path" ;;
  arm64) qemu-aarch64 "$path" ;;
  armhf) qemu-arm "$path" ;;
  m3) board mps2-an385 ;;
  m4) board mps2-an386 ;;
  m7) board mps2-an500 ;;
  *) echo "run.sh: unknown target $target: expected host, arm64, armhf, m3, m4 or m7" >&2; exit 2 ;;
esac
