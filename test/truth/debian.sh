#!/usr/bin/env bash
# Installs what test/truth/prepare.test.ts and the benchmark need of Debian and this machine lacks: OpenCV and Pillow.
set -eu
exec "$(dirname "$0")/../../scripts/debian.sh" python3-opencv python3-pil
