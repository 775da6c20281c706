#!/usr/bin/env bash
# Installs what ci.sh needs of Debian and this machine lacks: wasm2c, compilers for each target, and what emulates them.
set -eu
packages=(
  wabt gcc libc6-dev
  gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-none-eabi
  qemu-user qemu-system-arm valgrind
)
missing=()
for p in "${packages[@]}"; do dpkg -s "$p" >/dev/null 2>&1 || missing+=("$p"); done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing ${missing[*]}"
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
