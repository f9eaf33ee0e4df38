#!/bin/sh
# Fetches the wheels that an image is built from: those of its lock and of the tools that build the rest. Each is compared
# with the hash in its lock, here and again when the image is built, which then needs no network.
#
#   sh deploy/containers/fetch-wheels.sh agent|agent-vllm|aggregator
#
# Makes the environment of the release's tools first, since packages without a wheel ask for their build tools. MACHINE
# names a processor other than this machine's: x86_64 or aarch64.
set -eu
cd "$(dirname "$0")/../.."
variant=$1
release=${RELEASE_VENV:-.venv-release}
make --silent "$release/installed" RELEASE_VENV="$release"
machine=${MACHINE:-$(uname -m)}
target=deploy/containers/wheelhouse/$variant
platforms=''
for glibc in 2014 _2_17 _2_24 _2_26 _2_27 _2_28 _2_31 _2_34 _2_35 _2_36; do
  platforms="$platforms --platform manylinux${glibc}_$machine"
done
rm -rf "$target"
# shellcheck disable=SC2086  # several words
"$release/bin/python" -m pip --disable-pip-version-check download --quiet --no-deps --no-build-isolation --prefer-binary --require-hashes \
  --implementation cp --python-version 3.13 --abi cp313 --abi abi3 --abi none $platforms --dest "$target" \
  --requirement deploy/locks/build-py313.txt --requirement "deploy/locks/$variant-py313.txt"
