#!/usr/bin/env bash
# Runs `npm ci` and `npm test` where next to nothing is installed: in a Debian of debootstrap without Python, compilers
# and browsers, by a user who is not root, in a folder whose path has spaces, in another time zone and language.
#     test/fresh/run.sh [NODE...]       Node versions, by default 20 22 24 26
# No other part of CI runs the files of whole-files.mjs, so they may skip no test here.
# Where no such Debian can be made, only PATH hides what is installed. Ends with one line: N passed, N failed.
set -u
cd "$(dirname "$0")/../.."
versions=("$@")
[ $# -gt 0 ] || versions=(20 22 24 26)
passed=0 failed=0
work=$(mktemp -d)
root="$work/root" clone="/home/a person/her clone"
trap 'rm -rf --one-file-system "$work"' EXIT

# What a test may see of this machine: nothing but the way to the package registry.
setting() { local value; value=$(npm config get "$1"); case "$value" in null | undefined) ;; *) echo "$value" ;; esac; }
world=(
  "HOME=/home/a person" TZ=Asia/Kolkata LANG=tr_TR.UTF-8 CI=true
  ONNXRUNTIME_NODE_INSTALL=skip "npm_config_registry=$(setting registry)" npm_config_update_notifier=false
)
authorities=$(setting cafile)

# Prints the path of a program that test/runtimes/install.mjs or npm has.
obtain() { node --input-type=module -e "import * as all from './test/runtimes/install.mjs'; console.log(await all.$1)"; }

make_debian() {
  [ "$(id -u)" = 0 ] && scripts/debian.sh debootstrap && debootstrap --variant=minbase --include=libatomic1 bookworm "$root" &&
    chroot "$root" /bin/true
}

if make_debian >"$work/debian" 2>&1; then
  echo "a Debian of debootstrap"
  # Mounts and processes end with the namespace.
  run() {
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc"; shift; exec "$@"' sh "$root" \
      chroot --userspec=1000:1000 "$root" env -i "${world[@]}" PATH=/opt/node:/usr/bin:/bin \
      sh -c 'cd "$HOME/her clone" && exec "$@"' sh "$@"
  }
else
  tail -n 3 "$work/debian"
  echo "no Debian of its own: PATH hides what this machine has"
  world[0]="HOME=$root/home/a person"
  mkdir -p "$root/opt" "$root/tools"
  for tool in sh env cat mkfifo uname tar gzip; do ln -s "$(command -v $tool)" "$root/tools/"; done
  user=()
  [ "$(id -u)" != 0 ] || { user=(setpriv --reuid=1000 --regid=1000 --clear-groups); chmod 755 "$work"; }
  run() {
    "${user[@]}" env -i "${world[@]}" PATH="$root/opt/node:$root/tools" \
      sh -c 'cd "$HOME/her clone" && exec "$@"' sh "$@"
  }
fi

mkdir -p "$root$clone" "$root/opt"
git ls-files -z | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --null -cT - | tar -xC "$root$clone"
[ -z "$authorities" ] || { cp "$authorities" "$root/opt/cafile.pem"; world+=("npm_config_cafile=$root/opt/cafile.pem"); }
[ ! -d "$root/etc" ] || { cp /etc/resolv.conf /etc/hosts "$root/etc/"; world+=("npm_config_cafile=${authorities:+/opt/cafile.pem}"); }
npm=$(obtain "fetchProgram('npm', { packages: ['npm@11.6.2'], bin: 'npm/bin/npm-cli.js' })")
cp -r "$(dirname "$npm")/.." "$root/opt/npm"
[ "$(id -u)" != 0 ] || chown -R 1000:1000 "$root/home"

# Adds the tests that a report of vitest counts. A report that is missing or counts none has failed.
add() { # name, exit code, report
  local p=0 f=0
  read -r p f < <(node -p 'const r = JSON.parse(fs.readFileSync(process.argv[1])); `${r.numPassedTests} ${r.numFailedTests}`' "$3" 2>/dev/null)
  [ "$2" -eq 0 ] && [ "${p:-0}" -gt 0 ] || [ "${f:-0}" -gt 0 ] || f=1
  passed=$((passed + ${p:-0})) failed=$((failed + f))
  [ "$f" -eq 0 ] || echo "FAILED: $1"
}

for version in "${versions[@]}"; do
  SECONDS=0
  rm -rf "$root/opt/node"
  mkdir -p "$root/opt/node"
  cp "$(obtain "obtain('node$version')")" "$root/opt/node/node"
  ln -s ../npm/bin/npm-cli.js "$root/opt/node/npm"
  if [ ! -d "$root$clone/node_modules" ]; then
    echo "== npm ci"
    if run npm ci >"$work/log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); tail -n 40 "$work/log"; echo "FAILED: npm ci"; fi
  fi
  echo "== npm test, Node $version"
  run npm test -- --reporter=default --reporter=json --outputFile.json=report.json >"$work/log" 2>&1
  code=$?
  skipped=$(node test/fresh/whole-files.mjs "$root$clone/report.json" 2>&1)
  if [ -n "$skipped" ]; then
    printf 'got files of whole-files.mjs with skipped tests, expected none:\n%s\n' "$skipped" >>"$work/log"
    failed=$((failed + 1))
    echo "FAILED: a test is skipped here and by the part package"
  fi
  [ $code -eq 0 ] && [ -z "$skipped" ] || node .ci/failures.mjs "npm test, Node $version" "$work/log"
  tail -n 8 "$work/log"
  add "npm test, Node $version" $code "$root$clone/report.json"
  rm -f "$root$clone/report.json"
  echo "Node $version took $((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
