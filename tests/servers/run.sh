#!/bin/sh
# Run a benchmark against real language-model servers: transformers serve always; vLLM and llama.cpp's server
# where they are installed, in .venv-servers or on the path. What was skipped is said at the end.
#   .venv-servers/bin/pip install vllm                                    adds vLLM
#   .venv-servers/bin/pip install 'llama-cpp-python[server]' gguf         adds llama.cpp's Python server
set -eu
cd "$(dirname "$0")/../.."
servers=${SERVERS_VENV:-.venv-servers}
if ! cmp -s tests/servers/requirements.txt "$servers/installed"; then
  ${PYTHON:-python3} -m venv "$servers"
  # torch first: another package's wish for torch must not bring a second build of it
  "$servers/bin/pip" install --quiet --disable-pip-version-check "$(grep '^torch==' tests/servers/requirements.txt)"
  "$servers/bin/pip" install --quiet --disable-pip-version-check -r tests/servers/requirements.txt
  cp tests/servers/requirements.txt "$servers/installed"
fi
INTRAMURAL_TEST_SERVERS=$servers exec "${VENV:-.venv}/bin/python" -m pytest -m servers -rs tests/servers
