#!/bin/sh
# The end-to-end tests on the provider that KUBE_PROVIDER names. Each run has clusters of its own, which it takes down:
# one that is up already, with the guests in it, is left alone. What is given goes to pytest.
set -eu
cd "$(dirname "$0")/.."
provider=${KUBE_PROVIDER:-embedded}
case $provider in
embedded)
  exec .venv/bin/python scripts/test.py e2e -- "$@"
  ;;
external)
  echo "functest: KubeVirt cannot be installed yet on a cluster that is not ours, so nothing could be tried on it;" \
    "take KUBE_PROVIDER=embedded or k8s-1.34" >&2
  exit 2
  ;;
*)
  if [ ! -f "cluster-up/$provider/provider.toml" ]; then
    echo "functest: there is no provider $provider; take embedded, or a folder of cluster-up/ with a provider.toml" >&2
    exit 2
  fi
  cluster-up/cli.sh build
  guest/build.sh --quiet >/dev/null
  SOAK_REAL_KUBERNETES=1 exec .venv/bin/pytest -p no:cacheprovider tests/cluster/test_vm.py "$@"
  ;;
esac
