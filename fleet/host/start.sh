#!/usr/bin/env bash
# Starts the host from a clone: installs and builds what is missing, then runs the command with the arguments given.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
"$folder/../service/prepare.sh" host
exec node "$folder/dist/cli/main.js" "$@"
