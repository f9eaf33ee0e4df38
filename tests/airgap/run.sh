#!/bin/sh
# Build two signed kits, of this source and of the same source under an earlier version, and install them one after the
# other in a network namespace without a route (tests/airgap/test_airgap.py). Builds need a package index.
#   AIRGAP_KITS=...   where the kits are kept; built anew when the source has changed
set -eu
cd "$(dirname "$0")/../.."
python=${VENV:-.venv}/bin/python
case $python in
  /*) ;;
  *) python=$PWD/$python ;;
esac
kits=${AIRGAP_KITS:-.venv-airgap}
mkdir -p "$kits"
kits=$(cd "$kits" && pwd -P)
short=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
RELEASE_VENV=$PWD/.venv-release
export SOURCE_DATE_EPOCH RELEASE_VENV

# List the files that git knows and that are there.
list_source() {
  git ls-files --cached --others --exclude-standard | while IFS= read -r name; do
    [ ! -f "$name" ] || printf '%s\n' "$name"
  done
}

list_source | grep -Ev '^(tests|docs)/' | tr '\n' '\0' | xargs -0 sha256sum >"$kits/wanted"
if ! cmp -s "$kits/wanted" "$kits/built"; then
  rm -rf "$kits/built" "$kits/source" "$kits/previous" "$kits/current" "$kits/key"*
  ssh-keygen -q -t ed25519 -N '' -C 'key of this test' -f "$kits/key"
  printf 'intramural-release namespaces="intramural-release" %s\n' "$(cat "$kits/key.pub")" >"$kits/signers"
  for kit in previous current; do
    rm -rf "$kits/source"
    mkdir "$kits/source"
    list_source | tar --create --files-from - | tar --extract --directory "$kits/source"
    [ $kit = current ] || sed -i 's/^version = ".*"/version = "0.0.1"/' "$kits/source/pyproject.toml"
    sh "$kits/source/deploy/airgap/build.sh" --pythons "$short" --extras parquet --key "$kits/key" --out "$kits/$kit"
  done
  rm -rf "$kits/source"
  mv "$kits/wanted" "$kits/built"
fi
INTRAMURAL_TEST_KITS=$kits exec "$python" -m pytest -n 0 -rs tests/airgap "$@"
