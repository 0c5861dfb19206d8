#!/bin/sh
# kubectl for the cluster of KUBE_PROVIDER, as its administrator. Where nobody has brought up or named one, it is for
# the home of `make up`. Builds a kubectl for it if there is none, once.
set -eu
provider=${KUBE_PROVIDER:-embedded}
if [ "$provider" = external ]; then
  exec kubectl "$@"
fi
home=${KUBEVIRT_CLUSTER_UP_HOME:-/var/lib/kubevirt-cluster-up}/${KUBEVIRT_CLUSTER_NAME:-$provider}
kubectl=$home/kubectl

# Older ones speak SPDY for exec, attach and cp, which the embedded home does not; `virtctl doctor` says so, too.
speaks_websockets() {
  minor=$(kubectl version --client 2>/dev/null | sed -n 's/.*v1\.\([0-9]*\)\..*/\1/p' | head -n 1)
  [ "${minor:-0}" -ge 30 ]
}

may_use() { [ -r "$home/kubeconfig" ]; }

if [ "$provider" = embedded ]; then
  if ! may_use && [ -z "${KUBEVIRT_CLUSTER_UP_HOME-}${KUBEVIRT_CLUSTER_NAME-}" ]; then
    home=${KUBEVIRT_HOME:-/var/lib/kubevirt-embedded}
  fi
  if may_use; then
    if speaks_websockets; then kubectl=$(command -v kubectl); else kubectl=$("$(dirname "$0")/cli.sh" kubectl); fi
  fi
fi
if [ ! -x "$kubectl" ] || ! may_use; then
  echo "cluster-up: no cluster ${KUBEVIRT_CLUSTER_NAME:-$provider} is up that you may use; start it with \`make cluster-up\`, as root" >&2
  exit 1
fi
KUBECONFIG=$home/kubeconfig exec "$kubectl" "$@"
