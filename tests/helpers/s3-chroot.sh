#!/bin/sh
# Makes a Debian 13 chroot with Ceph's object gateway, a real S3 server (about 500 MB; needs root).
# usage: s3-chroot.sh <directory>    The directory appears when it is complete, never before.
set -eu
target=$1
building=$target.building.$$
export DEBIAN_FRONTEND=noninteractive

clean() {
  # debootstrap mounts these, and leaves them where it is interrupted.
  umount "$building/proc" "$building/sys" 2>/dev/null || true
  rm -rf --one-file-system "$building"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

if ! command -v debootstrap >/dev/null; then
  apt-get install -y -qq --no-install-recommends debootstrap || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends debootstrap
  }
fi

# The mirror that this machine uses, in either of apt's formats.
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=$(awk '/^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' \
  /etc/apt/sources.list 2>/dev/null || true)

mkdir -p "$(dirname "$target")"
# What a builder left that was killed outright.
find "$(dirname "$target")" -maxdepth 1 -name "$(basename "$target").building.*" -mmin +60 \
  -exec rm -rf --one-file-system {} +
debootstrap --variant=minbase trixie "$building" ${mirror:+"$mirror"}
# Nothing is to start while packages are installed.
printf '#!/bin/sh\nexit 101\n' >"$building/usr/sbin/policy-rc.d"
chmod +x "$building/usr/sbin/policy-rc.d"
chroot "$building" apt-get update -qq
chroot "$building" apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io radosgw
chroot "$building" apt-get clean

# Where two builds race, the first one's result stands.
mv -T "$building" "$target" 2>/dev/null || [ -x "$target/usr/bin/radosgw" ]
