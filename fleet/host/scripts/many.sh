#!/usr/bin/env bash
# A broker, two hosts and a sender on one machine, one command each:
#
#     npm run many:broker      # Debian's nats-server
#     npm run many:hosts       # two hosts, pages on ports 8791 and 8792
#     npm run many:send        # frames of eight cameras; an agent with the sink "nats" does the same
#
# The hosts share a SQLite file. Set BOXWRIGHT_DATABASE=postgres://... to share PostgreSQL.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin"
folder=${BOXWRIGHT_MANY:-out/many}
port=${BOXWRIGHT_NATS_PORT:-4222}
first=${BOXWRIGHT_PORT:-8791}
mkdir -p "$folder"

broker() {
  command -v nats-server >/dev/null || { echo "got no nats-server. Install Debian's package nats-server" >&2; exit 1; }
  printf 'max_payload: 8MB\nmax_pending: 256MB\njetstream { store_dir: "%s/nats" }\n' "$PWD/$folder" >"$folder/nats.conf"
  exec nats-server -a 127.0.0.1 -p "$port" -c "$folder/nats.conf"
}

hosts() {
  # A child that is stopped with this script is no job of nobody.
  trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT INT TERM
  for number in 0 1; do
    node dist/cli/main.js --nats "nats://127.0.0.1:$port" --partitions 2 --port $((first + number)) \
      --database "${BOXWRIGHT_DATABASE:-$folder/many.db}" &
  done
  wait
}

case "${1:-}" in
  broker) broker ;;
  hosts) hosts ;;
  send) shift; exec node scripts/send.mjs --nats "nats://127.0.0.1:$port" --partitions 2 "$@" ;;
  *) echo "usage: many.sh broker | hosts | send" >&2; exit 2 ;;
esac
