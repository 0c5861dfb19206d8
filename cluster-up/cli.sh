#!/bin/sh
# Looks into the cluster: `cli.sh ls`, `cli.sh ssh node01 [COMMAND]`, `cli.sh logs [MACHINE PROGRAM]`.
set -eu
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
python=$here/../.venv/bin/python
if [ ! -x "$python" ]; then
  echo "cluster-up: the virtual environment .venv is missing, which cluster-up runs in; run \`make bootstrap\`" >&2
  exit 1
fi
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m clusterup "$@"
