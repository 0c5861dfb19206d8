#!/bin/sh
# Starts the cluster of KUBE_PROVIDER with KUBEVIRT_NUM_NODES nodes.
exec "$(dirname "$0")/cli.sh" up
