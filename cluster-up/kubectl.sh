#!/bin/sh
# kubectl for the cluster of KUBE_PROVIDER, as its administrator.
set -eu
provider=${KUBE_PROVIDER:-embedded}
if [ "$provider" = external ]; then
  exec kubectl "$@"
fi
home=${KUBEVIRT_CLUSTER_UP_HOME:-/var/lib/kubevirt-cluster-up}/${KUBEVIRT_CLUSTER_NAME:-$provider}
kubectl=$home/kubectl
if [ "$provider" = embedded ]; then
  kubectl=$(command -v kubectl) || exec "$(dirname "$0")/cli.sh" kubectl "$@"
fi
if [ ! -x "$kubectl" ] || [ ! -r "$home/kubeconfig" ]; then
  echo "cluster-up: no cluster ${KUBEVIRT_CLUSTER_NAME:-$provider} is up that you may use; start it with \`make cluster-up\`, as root" >&2
  exit 1
fi
KUBECONFIG=$home/kubeconfig exec "$kubectl" "$@"
