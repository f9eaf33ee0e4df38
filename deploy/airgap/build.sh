#!/bin/sh
# Builds a kit, on a machine with a package index. README.md beside this file lists the options.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
release=${RELEASE_VENV:-.venv-release}
make --silent -C "$root" "$release/installed" RELEASE_VENV="$release"
case $release in
  /*) ;;
  *) release=$root/$release ;;
esac
PYTHONPATH=$root/deploy/release exec "$release/bin/python" -P -m intramural_release kit "$@"
