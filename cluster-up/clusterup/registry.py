"""The image registry that the nodes take for every registry there is.

It runs in the control plane's namespace. The host reaches it on the same address as the nodes do,
to push; a name like `quay.io/project/image:tag` is stored and found as `project/image:tag`.
"""

import json
from pathlib import Path

from clusterup import machines, network

PORT = 5000


def address(plan: network.Plan) -> str:
    return f"{plan.control_plane}:{PORT}"


def start(machine: machines.Machine, plan: network.Plan) -> machines.Running:
    folder = machine.folder / "registry"
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "config.json"
    settings.write_text(json.dumps(_settings(folder / "data", plan)))
    return machine.spawn("docker-registry", ["docker-registry", "serve", str(settings)])


def _settings(data: Path, plan: network.Plan) -> dict[str, object]:
    return {
        "version": "0.1",
        "log": {"level": "info", "accesslog": {"disabled": True}},
        "storage": {
            "filesystem": {"rootdirectory": str(data)},
            "delete": {"enabled": True},
            # Layers that were pushed twice are found without asking the disk again.
            "cache": {"blobdescriptor": "inmemory"},
        },
        "http": {"addr": address(plan)},
    }
