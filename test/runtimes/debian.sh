#!/usr/bin/env bash
# Installs what test/runtimes needs of Debian and this machine lacks: a browser, and what emulates ARM for Node's builds of it.
set -eu
exec "$(dirname "$0")/../../scripts/debian.sh" \
  chromium qemu-user \
  libc6-arm64-cross libstdc++6-arm64-cross libatomic1-arm64-cross \
  libc6-armhf-cross libstdc++6-armhf-cross libatomic1-armhf-cross
