#!/bin/sh
# virtctl for the cluster of KUBE_PROVIDER, as its administrator.
set -eu
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
provider=${KUBE_PROVIDER:-embedded}
python=$here/../.venv/bin/python
if [ ! -x "$python" ]; then
  echo "cluster-up: the virtual environment .venv is missing, which virtctl runs in; run \`make bootstrap\`" >&2
  exit 1
fi
if [ "$provider" != external ]; then
  home=${KUBEVIRT_CLUSTER_UP_HOME:-/var/lib/kubevirt-cluster-up}/${KUBEVIRT_CLUSTER_NAME:-$provider}
  export KUBECONFIG="$home/kubeconfig"
  if [ "$provider" = embedded ]; then export KUBEVIRT_HOME="$home"; fi
fi
exec "$python" -m kubevirt.cli "$@"
