#!/usr/bin/env bash
# Installs what test/runtimes needs of Debian and this machine lacks: a browser, and what emulates ARM for Node's builds of it.
set -eu
packages=(
  chromium
  qemu-user
  libc6-arm64-cross libstdc++6-arm64-cross libatomic1-arm64-cross
  libc6-armhf-cross libstdc++6-armhf-cross libatomic1-armhf-cross
)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
