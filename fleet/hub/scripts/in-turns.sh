#!/usr/bin/env bash
# Runs the load reports of this checkout and of another, in turns, since the machine may have other work:
#
#     npm run load:turns -- DIR    # both checkouts are installed; this one gets built, and DIR has fleet/hub/out
#
# Takes about four minutes. Prints a table: requests with a key, and the p99 of such requests beside heartbeats and waits.
set -eu
other=$(cd "${1:?got no folder, expected the one of another checkout}" && pwd)
own=$(cd "$(dirname "$0")/../../.." && pwd)
ulimit -n "$(ulimit -Hn)"
report() {
  cd "$2/fleet/hub"
  node "out/scripts/$3.js" --sqlite "${@:4}" 2>&1 | sed -u "s/^/$(printf '%-7s' "$1")/"
}
for turn in "this $own" "other $other" "other $other" "this $own"; do
  report $turn load --speed --short
done
for turn in "this $own" "other $other"; do
  report $turn load-devices --seconds "${BOXWRIGHT_TURN_SECONDS:-16}"
done
