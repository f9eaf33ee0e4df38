#!/bin/sh
# Verifies this kit and installs Intramural from it, without a network. The kit's README.md explains every option.
#
#   sh install.sh --signers FILE [--prefix DIR] [--extras NAME,NAME] [--python PROGRAM]    verify, install or upgrade
#   sh install.sh --digest HEX ...        the same, for a kit without signature: the digest that build.sh printed
#   sh install.sh --verify --signers FILE (or --digest HEX)                                verify only
#   sh install.sh --add NAME,NAME [--prefix DIR]                                           add extras of this kit
#   sh install.sh --rollback [--prefix DIR]                                                return to the release before
#
# Each release has a folder of its own under DIR/releases (DIR: /opt/intramural). DIR/current and DIR/bin lead to the one
# in use, and change only when the new one is complete: an interrupted run changes nothing.
set -eu
umask 022
LC_ALL=C
export LC_ALL

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '%s\n' "$2" >&2
  exit 1
}

need_value() {
  [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value"
}

kit=$(cd "$(dirname "$0")" && pwd -P)
prefix=/opt/intramural
mode=install
signers='' digest='' python='' extras='' extras_given=no
while [ $# -gt 0 ]; do
  case $1 in
    --signers) need_value "$@"; signers=$2; shift ;;
    --digest) need_value "$@"; digest=$2; shift ;;
    --prefix) need_value "$@"; prefix=$2; shift ;;
    --python) need_value "$@"; python=$2; shift ;;
    --extras) [ $# -ge 2 ] || fail '--extras needs a value'; extras=$2 extras_given=yes; shift ;;
    --add) need_value "$@"; extras=$2 mode=add; shift ;;
    --verify) mode=verify ;;
    --rollback) mode=rollback ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
    *) fail "unknown option: $1" 'See sh install.sh --help.' ;;
  esac
  shift
done
case $prefix in
  /*) ;;
  *) fail "--prefix must be an absolute path: $prefix" ;;
esac

work=$(mktemp -d)
unfinished=''
# shellcheck disable=SC2329  # called by the trap
clean_up() {
  rm -rf "$work"
  [ -z "$unfinished" ] || rm -rf "$unfinished"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# Compare the list of checksums with what the reader knows from elsewhere: a key, or the list's digest.
verify_origin() {
  sums=$(sha256sum "$kit/SHA256SUMS" | cut -c1-64)
  if [ -n "$signers" ]; then
    command -v ssh-keygen >/dev/null || fail 'ssh-keygen is not installed' 'Install openssh-client.'
    [ -f "$kit/SHA256SUMS.sig" ] || fail 'the kit is not signed' 'Get a signed kit, or give its digest with --digest.'
    ssh-keygen -Y verify -f "$signers" -I intramural-release -n intramural-release \
      -s "$kit/SHA256SUMS.sig" <"$kit/SHA256SUMS" >"$work/signature" 2>&1 ||
      fail "the signature of the kit is not valid: $(tail -n 1 "$work/signature")" \
        'Use nothing of this kit. Get it again, and compare the fingerprint of the key by telephone.'
  elif [ -n "$digest" ]; then
    [ "$sums" = "$digest" ] ||
      fail 'the kit is another one than --digest names' 'Use nothing of this kit. Compare the digest with the one that build.sh printed.'
  elif [ $mode = add ] && [ -f "$prefix/current/kit.sha256" ]; then
    [ "$sums" = "$(cat "$prefix/current/kit.sha256")" ] ||
      fail 'this is not the kit that is installed' 'Run install.sh of that kit, or upgrade with --signers or --digest.'
  else
    fail 'nothing says where the kit comes from' 'Give --signers FILE, or --digest HEX of a kit without signature.'
  fi
}

# Compare every file with the list. More, fewer, other files, and links are refused.
verify_files() {
  [ -z "$(find "$kit" -perm -0002 ! -type l -print | head -n 1)" ] ||
    fail 'every account of this machine can change the kit' 'Copy it to a folder that only you can write to, and run install.sh there.'
  odd=$(cd "$kit" && find . ! -type f ! -type d -print | head -n 1)
  [ -z "$odd" ] || fail "neither a file nor a folder: $odd" 'Use nothing of this kit.'
  ! grep -Evq '^[0-9a-f]{64}  [A-Za-z0-9._+@=,~-][A-Za-z0-9._+@=,~ /-]*$' "$kit/SHA256SUMS" ||
    fail 'SHA256SUMS is malformed' 'Use nothing of this kit.'
  cut -c67- "$kit/SHA256SUMS" | sort >"$work/listed"
  (cd "$kit" && find . -type f ! -path ./SHA256SUMS ! -path ./SHA256SUMS.sig -print) |
    sed 's|^\./||' | sort >"$work/present"
  [ -z "$(uniq -d "$work/listed")" ] || fail 'SHA256SUMS names a file twice' 'Use nothing of this kit.'
  more=$(comm -13 "$work/listed" "$work/present" | head -n 3)
  [ -z "$more" ] || fail "not on the kit's list: $more" 'Use nothing of this kit.'
  fewer=$(comm -23 "$work/listed" "$work/present" | head -n 3)
  [ -z "$fewer" ] || fail "missing from the kit: $fewer" 'Copy the kit again.'
  (cd "$kit" && sha256sum --check --strict --quiet SHA256SUMS) >"$work/changed" 2>/dev/null ||
    fail "changed: $(head -n 3 "$work/changed")" 'Use nothing of this kit. Copy it again.'
}

# Find a Python for which the kit has wheels.
choose_python() {
  for program in ${python:-python3.13 python3.12 python3.11 python3}; do
    command -v "$program" >/dev/null || continue
    version=$("$program" -I -c 'import sys; print("py%d%d" % sys.version_info[:2])' 2>/dev/null) || continue
    [ -n "$version" ] && [ -d "$kit/locks/$version" ] || continue
    python=$(command -v "$program")
    return
  done
  fail "no Python for this kit, which has wheels for: $(cd "$kit/locks" && echo py*)" \
    "Install one of them, or name it with --python PROGRAM."
}

# Print one value of a record in JSON; a list with commas.
read_record() {
  "$python" -I -c '
import json, sys
value = json.load(open(sys.argv[1], encoding="utf-8"))[sys.argv[2]]
print(",".join(value) if isinstance(value, list) else value)' "$1" "$2"
}

# Run the kit's own pip with the Python of an environment, and with no settings of this machine.
run_pip() {
  environment=$1
  shift
  env -i PATH="$PATH" HOME="$work" LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null \
    "$environment/bin/python" "$(echo "$kit"/wheels/pip-*.whl)/pip" --disable-pip-version-check --no-cache-dir "$@"
}

# Make the environment of a release. The record of the kit is written last: without it the release is incomplete.
make_release() {
  release=$1
  "$python" -I -m venv --without-pip "$release" || fail 'the environment could not be made' 'Install the system package python3-venv.'
  set -- -r "$kit/locks/$version/base.txt"
  for extra in $(echo "$extras" | tr ',' ' '); do
    set -- "$@" -r "$kit/locks/$version/$extra.txt"
  done
  run_pip "$release" install --quiet --no-index --find-links "$kit/wheels" --only-binary :all: --no-deps \
    --require-hashes "$@" || fail 'the packages could not be installed (see above)' 'Nothing was changed.'
  run_pip "$release" check >"$work/check" || fail "packages do not fit together: $(cat "$work/check")" 'Nothing was changed.'
  "$release/bin/intramural" --version >/dev/null || fail 'the installed program does not start' 'Nothing was changed.'
  echo "$sums" >"$release/kit.sha256"
  "$python" -I - "$kit" "$prefix" "$extras" "$release/intramural-kit.json" <<'PROGRAM'
import json, sys
kit, prefix, extras, target = sys.argv[1:]
with open(f"{kit}/kit.json", encoding="utf-8") as file:
    manifest = json.load(file)
record = {
    "name": manifest["name"],
    "version": manifest["version"],
    "folder": kit,
    "prefix": prefix,
    "extras": manifest["extras"],
    "installed": [extra for extra in extras.split(",") if extra],
}
with open(target, "w", encoding="utf-8") as file:
    json.dump(record, file, indent=1)
PROGRAM
}

# Let a link lead elsewhere in one step.
point() {
  rm -f "$1.new"
  ln -s "$2" "$1.new"
  mv -T "$1.new" "$1"
}

# Put a complete release in use; keep the one before for --rollback, and remove older ones.
switch_to() {
  before=$(readlink "$prefix/current" || true)
  [ -z "$before" ] || [ "$before" = "$1" ] || point "$prefix/previous" "$before"
  point "$prefix/current" "$1"
  [ -L "$prefix/bin" ] || point "$prefix/bin" current/bin
  for release in "$prefix"/releases/*; do
    case releases/$(basename "$release") in
      "$(readlink "$prefix/current")" | "$(readlink "$prefix/previous" || true)") ;;
      *) rm -rf "$release" ;;
    esac
  done
}

if [ $mode = verify ]; then
  verify_origin
  verify_files
  echo "The kit is complete and unchanged: $(basename "$kit")"
  exit 0
fi

mkdir -p "$prefix/releases" || fail "$prefix cannot be written to" 'Run install.sh as root, or name another --prefix.'
[ ! -e "$prefix/bin" ] || [ -L "$prefix/bin" ] ||
  fail "$prefix holds an installation that no kit made" 'Move it away, or name another --prefix.'
exec 9>"$prefix/.lock" || fail "$prefix cannot be written to" 'Run install.sh as root, or name another --prefix.'
flock -n 9 || fail "another install.sh is at work in $prefix" 'Wait until it has ended.'

if [ $mode = rollback ]; then
  target=$(readlink "$prefix/previous") || fail "there is no earlier release in $prefix" 'Install its kit again.'
  switch_to "$target"
  echo "In use again: $target. Restart the services. A store that the newer release has changed is opened only by that"
  echo 'release: restore the back-up that was made before the upgrade.'
  exit 0
fi

verify_origin
verify_files
choose_python
[ "$(uname -m)" = "$(read_record "$kit/kit.json" machine)" ] ||
  fail "the kit is for $(read_record "$kit/kit.json" machine), and this machine is $(uname -m)"
installed=''
if [ -f "$prefix/current/intramural-kit.json" ]; then
  installed=$(read_record "$prefix/current/intramural-kit.json" installed)
fi
[ $mode != add ] || extras="$installed,$extras"
[ $mode = add ] || [ $extras_given = yes ] || extras=$installed
extras=$(echo "$extras" | tr ',' '\n' | sed '/^$/d' | sort -u | paste -sd, -)
for extra in $(echo "$extras" | tr ',' ' '); do
  case $extra in
    base | *[!a-z0-9-]*) fail "this is no extra: $extra" ;;
  esac
  [ -f "$kit/locks/$version/$extra.txt" ] ||
    fail "the kit has no extra $extra for this Python; it has: $(read_record "$kit/kit.json" extras)" \
      "Build one with deploy/airgap/build.sh --extras $extra, or name the wanted ones with --extras."
done

# The same kit with the same extras and the same Python is the same release.
key=$(printf '%s %s %s' "$sums" "$extras" "$python" | sha256sum | cut -c1-12)
target=releases/$(read_record "$kit/kit.json" version)-$key
if [ -f "$prefix/$target/intramural-kit.json" ] && [ "$("$prefix/$target/bin/python" -I -c 'print(1)')" = 1 ]; then
  echo "Already installed: $target"
else
  rm -rf "${prefix:?}/$target"
  unfinished=$prefix/$target
  make_release "$prefix/$target"
  unfinished=''
fi
switch_to "$target"
echo "Installed: $("$prefix/bin/intramural" --version), extras: ${extras:-none}, in $prefix/$target"
echo "Start it as $prefix/bin/intramural. Restart services that ran an earlier release."
for folder in datasets models images; do
  [ ! -d "$kit/$folder" ] || echo "The kit also holds $folder: $kit/$folder. Its README.md says how to use them."
done
