#!/bin/sh
# Installs what the README's commands need on Debian 12 or 13: system packages, then .venv.
# Safe to repeat: a run with nothing to do ends at once. Says what it does before it does it.
set -eu
cd "$(dirname "$0")/.."

# In this order: development; a Kubernetes to test on; libvirt's and dnsmasq's word on what we write.
packages="
  git make shellcheck python3 python3-venv ca-certificates
  runc containernetworking-plugins docker-registry busybox-static
  iproute2 nftables iptables conntrack util-linux procps kmod
  libvirt-clients libvirt-daemon libxml2-utils dnsmasq-base
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
  .venv/bin/pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: \
    --requirement requirements-dev.lock
  .venv/bin/pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
  printf '%s' "$wanted" >$stamp
}

seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
install_packages
install_environment
