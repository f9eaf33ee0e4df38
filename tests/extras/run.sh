#!/bin/sh
# Compare BERTScore with the package bert-score on a real encoder, in an environment of its own.
#   EXTRAS_VENV=...   where that is; made on the first call
set -eu
cd "$(dirname "$0")/../.."
extras=${EXTRAS_VENV:-.venv-extras}
if ! cat pyproject.toml tests/extras/requirements.txt | cmp -s - "$extras/installed"; then
  ${PYTHON:-python3} -m venv "$extras"
  # Most modules are never imported: those that are get compiled then.
  # torch first: another package's wish for torch must not bring a second build of it
  "$extras/bin/pip" install --quiet --disable-pip-version-check --no-compile "$(grep '^torch==' tests/extras/requirements.txt)"
  "$extras/bin/pip" install --quiet --disable-pip-version-check --no-compile -r tests/extras/requirements.txt -e '.[test]'
  cat pyproject.toml tests/extras/requirements.txt >"$extras/installed"
fi
exec "$extras/bin/python" -m pytest -p no:cacheprovider -rs tests/extras "$@"
