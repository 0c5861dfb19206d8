#!/bin/sh
# Brings KubeVirt of this checkout into the cluster of KUBE_PROVIDER; guests go on.
exec "$(dirname "$0")/cli.sh" sync
