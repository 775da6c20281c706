#!/usr/bin/env bash
# Starts the hub from a clone: installs and builds what is missing, and runs it with its data in a folder, hub-data/ of
# the present one if none is given. The first start makes a team, and prints the link by which its administrator signs in.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
data=${1:-hub-data}
install() { [ -d node_modules ] || npm ci --no-progress --no-audit --no-fund --loglevel error; }
(cd "$folder/../.." && install && npm run --silent build) >&2
(cd "$folder/.." && install && cd hub && npm run --silent build) >&2
mkdir -p -m 700 "$data"
cd "$data"
if [ ! -e hub.db ] && [ -z "${DATABASE_URL:-}" ]; then
  link=$(node "$folder/dist/cli/main.js" init --email you@example.org --team "My team" |
    node -pe 'JSON.parse(require("fs").readFileSync(0)).link')
  cat <<END

Open this link in a browser and choose a password. It works once, for a day:

    $link

Then "Adopt keys" makes a key for the agent.

END
fi
exec node "$folder/dist/cli/main.js" serve
