#!/bin/sh
# Compare `scoring: helm` with HELM itself, installed in an environment of its own. What was skipped is said at the end.
#   TORCH=torch==2.13.0   the build of torch that HELM shall find, for example one without CUDA
#   HELM_VENV=...         an environment that has crfm-helm already
#   INTRAMURAL_OFFICIAL_DATA=...  official files, in folders named as the benchmarks; the samples where there are none
set -eu
cd "$(dirname "$0")/../.."
helm=${HELM_VENV:-.venv-helm}
case $helm in /*) ;; *) helm=$PWD/$helm ;; esac  # some tests work in another folder
if [ ! -x "$helm/bin/helm-summarize" ]; then
  ${PYTHON:-python3} -m venv "$helm"
  # torch first: HELM's wish for torch must not bring another build of it
  "$helm/bin/pip" install --quiet --disable-pip-version-check "${TORCH:-torch}"
  "$helm/bin/pip" install --quiet --disable-pip-version-check 'crfm-helm==0.5.16'
fi
HELM_PYTHON=$helm/bin/python exec "${VENV:-.venv}/bin/python" -m pytest -rs --timeout=3600 tests/parity "$@"
