#!/bin/sh
# The long form of what the suites try briefly: an hour or two of deaths, power cuts and random requests.
# What is counted by a variable below can be set by the caller.
set -eu
cd "$(dirname "$0")/.."

echo "soak: what stands beside a guest is killed" >&2
.venv/bin/python -m tests.e2e.faults.soak

echo "soak: what stands beside a machine in a home is killed, each at ten moments of its life" >&2
.venv/bin/python -m tests.e2e.vms.faults.soak

echo "soak: the API server is killed, starved, crowded and asked anything" >&2
export SOAK_STORE_KILLS="${SOAK_STORE_KILLS:-250}" SOAK_SERVER_KILLS="${SOAK_SERVER_KILLS:-500}" \
  SOAK_POWER_CUTS="${SOAK_POWER_CUTS:-300}" SOAK_SERVER_CHURN="${SOAK_SERVER_CHURN:-30000}" \
  SOAK_SERVER_REQUESTS="${SOAK_SERVER_REQUESTS:-20000}" SOAK_SERVER_SWEEPS="${SOAK_SERVER_SWEEPS:-10}"
.venv/bin/pytest -p no:cacheprovider -q -n 2 --timeout=7200 tests/component/apiserver

echo "soak: the process of an embedded home is killed" >&2
SOAK_HOME_KILLS="${SOAK_HOME_KILLS:-200}" \
  .venv/bin/pytest -p no:cacheprovider -q --timeout=7200 tests/component/embedded/process/test_storm.py
SOAK_NODE_KILLS="${SOAK_NODE_KILLS:-200}" SOAK_NETWORK_KILLS="${SOAK_NETWORK_KILLS:-200}" \
  .venv/bin/pytest -p no:cacheprovider -q --timeout=7200 tests/component/embedded/node/test_adoption.py \
  tests/component/embedded/network/test_crashes.py

echo "soak: a machine lives on a real Kubernetes" >&2
SOAK_REAL_KUBERNETES=1 .venv/bin/pytest -p no:cacheprovider -q --timeout=7200 tests/cluster/test_vm.py
