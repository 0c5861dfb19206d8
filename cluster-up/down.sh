#!/bin/sh
# Stops the cluster of KUBE_PROVIDER and leaves nothing behind.
exec "$(dirname "$0")/cli.sh" down
