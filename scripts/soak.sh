#!/bin/sh
# The long form of what the suites try briefly: hours of deaths, power cuts and random requests.
# All parts run, also when one fails; those that failed are named at the end, and it ends with 1 then.
# What is counted by a variable below can be set by the caller.
set -u
cd "$(dirname "$0")/.." || exit
failed=

part() { # its name, and the command
  what=$1
  shift
  echo "soak: $what" >&2
  "$@" && return
  echo "soak: failed: $what" >&2
  failed="$failed
soak:   $what"
}

# shellcheck disable=SC2317  # `part` calls it
pytest() { .venv/bin/pytest -p no:cacheprovider -q --timeout=7200 "$@"; }

trap 'exit 130' INT TERM

export SOAK_STORE_KILLS="${SOAK_STORE_KILLS:-250}" SOAK_SERVER_KILLS="${SOAK_SERVER_KILLS:-500}" \
  SOAK_POWER_CUTS="${SOAK_POWER_CUTS:-300}" SOAK_SERVER_CHURN="${SOAK_SERVER_CHURN:-30000}" \
  SOAK_SERVER_REQUESTS="${SOAK_SERVER_REQUESTS:-20000}" SOAK_SERVER_SWEEPS="${SOAK_SERVER_SWEEPS:-10}" \
  SOAK_HOME_KILLS="${SOAK_HOME_KILLS:-200}" SOAK_NODE_KILLS="${SOAK_NODE_KILLS:-200}" \
  SOAK_NETWORK_KILLS="${SOAK_NETWORK_KILLS:-200}" SOAK_SERVER_SCHEMAS="${SOAK_SERVER_SCHEMAS:-20000}"

part "the guest is built anew, byte for byte" \
  guest/anew.sh
part "what stands beside a guest is killed" \
  .venv/bin/python -m tests.e2e.faults.soak
part "what stands beside a machine in a home is killed, each at ten moments of its life" \
  .venv/bin/python -m tests.e2e.vms.faults.soak
part "the API server is killed, starved, crowded and asked anything" \
  pytest -n 2 tests/component/apiserver
part "the process of an embedded home is killed" \
  pytest tests/component/embedded/process/test_storm.py
part "a node and its network are killed" \
  pytest tests/component/embedded/node/test_adoption.py tests/component/embedded/network/test_crashes.py
part "guests and machines, with each program of KubeVirt's a process of its own" \
  .venv/bin/python scripts/test.py e2e -- --separate
if [ -n "${KUBEVIRT_UPSTREAM:-}" ]; then
  part "KubeVirt's own examples" \
    pytest tests/e2e/examples tests/e2e/vms/test_upstream_examples.py
else
  echo "soak: left out: KubeVirt's own examples; set KUBEVIRT_UPSTREAM to a folder that holds examples/" >&2
fi
if [ -n "${SOAK_UPSTREAM_VIRTCTL:-}" ]; then
  part "KubeVirt's own virtctl works with our virt-api" \
    pytest tests/e2e/vms/test_upstream_virtctl.py
else
  echo "soak: left out: KubeVirt's own virtctl; SOAK_UPSTREAM_VIRTCTL=1 builds it from its Go modules (minutes, once)" >&2
fi
part "a machine lives on a real Kubernetes" \
  env SOAK_REAL_KUBERNETES=1 .venv/bin/pytest -p no:cacheprovider -q --timeout=7200 tests/cluster/test_vm.py

[ -z "$failed" ] && exit
echo "soak: these failed:$failed" >&2
exit 1
