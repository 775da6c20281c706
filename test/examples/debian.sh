#!/usr/bin/env bash
# Installs what test/examples needs of Debian and this machine lacks: ffmpeg, and Frigate's side of ZeroMQ.
set -eu
exec "$(dirname "$0")/../../scripts/debian.sh" ffmpeg python3-zmq python3-numpy
