#!/usr/bin/env bash
# Installs the Debian packages that ci.sh needs and this machine lacks: wasm2c, compilers, emulators and valgrind.
set -eu
exec "$(dirname "$0")/../scripts/debian.sh" \
  wabt gcc libc6-dev \
  gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-none-eabi \
  gcc-riscv64-unknown-elf qemu-user qemu-system-arm valgrind
