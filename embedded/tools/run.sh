#!/usr/bin/env bash
# Runs a program that build.sh made: ./run.sh TARGET PROGRAM. Emulators: qemu-user and qemu-system-arm.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?got no target} program=${2:?got no program}
path=build/$target/$program
board() { # machine: a board of QEMU; semihosting brings the text and the exit code. No answer in two minutes is a fault.
  timeout 120 qemu-system-arm -machine "$1" -nographic -monitor none -serial none -icount shift=0 -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console -kernel "$path"
}
case $target in
  host) "$path" ;;
  arm64) qemu-aarch64 "$path" ;;
  armhf) qemu-arm "$path" ;;
  m3) board mps2-an385 ;;
  m4) board mps2-an386 ;;
  m7) board mps2-an500 ;;
  *) echo "run.sh: got target $target, expected host, arm64, armhf, m3, m4 or m7" >&2; exit 2 ;;
esac
