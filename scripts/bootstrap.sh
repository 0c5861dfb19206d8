#!/bin/sh
# Installs what the README's commands need on Debian 12 or 13: system packages, then .venv.
# Safe to repeat: a run with nothing to do ends at once. Says what it does before it does it.
set -eu
cd "$(dirname "$0")/.."

# In this order: development; a Kubernetes to test on; what runs a guest; what builds one.
packages="
  git make shellcheck python3 python3-venv ca-certificates
  runc containernetworking-plugins docker-registry busybox-static
  iproute2 nftables iptables conntrack util-linux mount procps kmod
  libvirt-clients libvirt-daemon libvirt-daemon-driver-qemu python3-libvirt libxml2-utils genisoimage
  qemu-system-x86 qemu-utils bubblewrap libseccomp2 dnsmasq-base
  syslinux syslinux-common libyaml-dev openssh-client
  gcc libc6-dev bc bison flex libelf-dev xz-utils lz4 zstd e2fsprogs btrfs-progs mtools dosfstools
"
# The distribution's Python, not whichever is first on PATH: system modules (libvirt) belong to it.
python=${KUBEVIRT_PYTHON:-/usr/bin/python3}
stamp=.venv/.bootstrap

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; return; fi
  command -v sudo >/dev/null 2>&1 \
    || fail "system packages are missing and this is neither root nor a user with sudo; as root run: apt-get install $missing"
  sudo "$@"
}

missing_packages() {
  # shellcheck disable=SC2086  # the list is words on purpose
  dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' $packages 2>/dev/null \
    | awk '$2 == "installed" {print $1}' >"$seen" || true
  for package in $packages; do
    grep -qxF "$package" "$seen" || printf '%s ' "$package"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null 2>&1 \
    || fail "this is no Debian (no dpkg); install by hand: $packages"
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  say "installing system packages: $missing"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing >&2
  leave_services_off
}

# The guest's kernel is built from a package that apt fetches; containers often come without apt's lists.
know_sources() {
  apt-cache policy linux-source-6.1 linux-source-6.12 2>/dev/null | grep -q 'Candidate: [0-9]' && return
  say "fetching apt's package lists, which the guest's kernel is found by"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2
}

# Tests start a registry of their own; the service that came with the package stays off.
leave_services_off() {
  [ -d /run/systemd/system ] || return 0
  case $missing in *docker-registry*) as_root systemctl disable --quiet --now docker-registry.service ;; esac
}

inputs() { cat scripts/bootstrap.sh requirements-dev.lock pyproject.toml; "$python" --version; }

install_environment() {
  wanted=$(inputs | sha256sum)
  [ "$(cat $stamp 2>/dev/null)" != "$wanted" ] || return 0
  "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
    || fail "$python is $("$python" --version); Python 3.11 to 3.13 is needed (KUBEVIRT_PYTHON names another)"
  say "making .venv with $("$python" --version) and the locked dependencies (about a minute)"
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  # The lock is whole. Were pip to look for dependencies as well, it could take a release that came after the lock
  # for one, and refuse it.
  .venv/bin/pip --disable-pip-version-check --quiet install --no-deps --require-hashes --only-binary :all: \
    --requirement requirements-dev.lock
  .venv/bin/pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
  .venv/bin/pip --disable-pip-version-check check >&2
  # A launcher's sandbox cannot write, so what is not compiled now is compiled at each of its starts.
  .venv/bin/python -m compileall -q src
  borrow_libvirt
  know_sources
  printf '%s' "$wanted" >$stamp
}

# Its bindings belong to the libvirt they were built with, so the distribution's are used: they alone,
# not everything else that happens to be installed beside them.
borrow_libvirt() {
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  for module in libvirt.py libvirt_qemu.py libvirtaio.py; do
    ln -sf "/usr/lib/python3/dist-packages/$module" "$site/$module"
  done
  for module in /usr/lib/python3/dist-packages/libvirtmod*.so; do
    [ ! -e "$module" ] || ln -sf "$module" "$site/"
  done
}

# What stands around a container is a small program in C.
build_keeper() {
  if [ -x build/keeper ] && [ -z "$(find keeper -newer build/keeper -type f)" ]; then return 0; fi
  say "compiling keeper/, which keeps containers"
  keeper/build.sh
}

seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
install_packages
install_environment
build_keeper
