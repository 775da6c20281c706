#!/usr/bin/env bash
# Starts the hub from a clone: installs and builds what is missing, then runs `boxwright-hub serve`.
# The first argument names the folder of the hub's data. The default is hub-data/ in the current folder.
# The first start makes a team. It prints the sign-in link of the administrator, and an adopt key for one device.
# Further arguments are a command of the hub for that folder: start.sh hub-data backup --out backup.gz
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
data=${1:-hub-data}
[ $# -eq 0 ] || shift
"$folder/../service/prepare.sh" hub
if [ $# -gt 0 ]; then
  case " $* " in *" --create "* | " init "*) mkdir -p -m 700 "$data" ;; esac
  [ -d "$data" ] || { echo "got no folder $data, expected that of the hub's data; --create makes it" >&2; exit 1; }
  cd "$data"
  exec node "$folder/dist/cli/main.js" "$@"
fi
mkdir -p -m 700 "$data"
cd "$data"
if [ ! -e hub.db ] && [ -z "${DATABASE_URL:-}" ]; then
  made=$(node "$folder/dist/cli/main.js" init --email you@example.org --team "My team")
  link=$(node -pe 'JSON.parse(process.argv[1]).link' "$made")
  team=$(node -pe 'JSON.parse(process.argv[1]).team.id' "$made")
  adopt=$(node "$folder/dist/cli/main.js" adopt-keys create --team "$team" --name "First device")
  key=$(node -pe 'JSON.parse(process.argv[1]).key' "$adopt")
  cat <<END

Open this link in a browser and choose a password. It works once, for a day:

    $link

An agent enrols as a device of this hub with this adopt key, for one device and seven days:

    $key

It is not shown again. The page "Adopt keys" makes more.

END
fi
exec node "$folder/dist/cli/main.js" serve
