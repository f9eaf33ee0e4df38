#!/bin/sh
# Makes the root file system of the images from Debian's packages: Python and its libraries, no shell, no package
# manager. Runs as root and needs mmdebstrap; apt checks Debian's signatures.
#
#   sh deploy/containers/make-base.sh base.tar [PACKAGE...]
#
# MIRROR and SECURITY_MIRROR name other sources, such as your own mirror or a snapshot of one day.
set -eu
mirror=${MIRROR:-http://deb.debian.org/debian}
security=${SECURITY_MIRROR:-http://deb.debian.org/debian-security}
suite=trixie
target=$1
shift
packages=python3.13,libstdc++6,libgomp1
for package in "$@"; do packages=$packages,$package; done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
root=$work/root

# Packages are unpacked only: none of their scripts runs. Two more are unpacked without the shell that they depend on.
# var/lib/dpkg/status.d is where scanners look for packages in images without a package manager.
# shellcheck disable=SC2016  # the shell of mmdebstrap expands them, with the root as $1
mmdebstrap --quiet --variant=extract --include="$packages" \
  --extract-hook='mkdir -p "$1/tmp/more" "$1/var/lib/dpkg/status.d"' \
  --extract-hook='cd "$1/tmp/more" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -o APT::Sandbox::User=root download base-files ca-certificates' \
  --extract-hook='cd "$1" && for each in tmp/more/*.deb; do dpkg-deb --extract "$each" . || exit 1; done' \
  --extract-hook='cd "$1" && for each in tmp/more/*.deb var/cache/apt/archives/*.deb; do dpkg-deb --field "$each" >"var/lib/dpkg/status.d/$(dpkg-deb --field "$each" Package)" || exit 1; done' \
  "$suite" "$root" \
  "deb $mirror $suite main" "deb $mirror $suite-updates main" "deb $security $suite-security main"

cd "$root"
mkdir -p etc/ssl/certs
cat usr/share/ca-certificates/mozilla/*.crt >etc/ssl/certs/ca-certificates.crt
printf 'root:x:0:0:root:/:/nonexistent\nintramural:x:65532:65532::/nonexistent:/nonexistent\n' >etc/passwd
printf 'root:x:0:\nintramural:x:65532:\n' >etc/group
# What the tools have left; what nothing here can run or uses; documents, but for licences.
rm -rf boot home root run/* tmp/* dev/* var/cache/* var/log/* var/lib/apt etc/apt etc/dpkg etc/debconf.conf etc/fstab
rm -rf etc/hostname etc/resolv.conf etc/profile.d etc/skel etc/update-motd.d usr/games usr/lib/*/gconv
rm -rf usr/bin/debconf* usr/sbin/dpkg-* usr/share/debconf usr/share/perl5 usr/share/man usr/share/lintian usr/share/bug
rm -rf usr/share/pixmaps usr/share/bash-completion usr/share/menu usr/share/applications
rmdir usr/include 2>/dev/null || true  # it has files if a compiler was asked for
find usr/share/doc -type f ! -name copyright -delete
find . -xdev -perm /6000 -exec chmod ug-s {} +
cd - >/dev/null
tar --create --file "$target" --directory "$root" --sort=name --numeric-owner --mtime=@0 .
