#!/usr/bin/env bash
# Installs what ci.sh needs of Debian and this machine lacks: wasm2c, compilers for each target, and what emulates them.
set -eu
exec "$(dirname "$0")/../scripts/debian.sh" \
  wabt gcc libc6-dev \
  gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-none-eabi \
  qemu-user qemu-system-arm valgrind
