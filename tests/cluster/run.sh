#!/bin/sh
# Redact on real clusters of Ray, started on this machine, in an environment of their own.
#   RAY_VENV=...   where that is; made on the first call
#   run.sh install the environment alone; no test is run
set -eu
cd "$(dirname "$0")/../.."
venv=${RAY_VENV:-.venv-ray}
if ! cmp -s pyproject.toml "$venv/installed"; then
  ${PYTHON:-python3} -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -e '.[ray,parquet]' 'pytest>=8.3' 'pytest-timeout>=2.3' 'pytest-xdist>=3.6' 'hypothesis>=6.110'
  cp pyproject.toml "$venv/installed"
fi
[ "${1:-}" != install ] || exit 0
map=--map-root-user
[ "$(id -u)" -ne 0 ] || map=
# Ray's daemons listen on every interface and take the address of one: here there is loopback alone.
exec unshare --net $map sh -c 'ip link set lo up && exec "$@"' sh \
  "$venv/bin/python" -m pytest -rs --timeout=900 tests/cluster "$@"
