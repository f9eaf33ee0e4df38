#!/bin/sh
# Prints the number of packages and the installed size of the base install.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check .
count=$("$folder/venv/bin/pip" list --disable-pip-version-check --format=freeze | grep -vc '^pip=\|^setuptools=')
size=$(du -sm "$folder/venv" | cut -f1)
echo "base install: $count packages, $size MB (HELM: 106 packages, 1,900 MB)"
