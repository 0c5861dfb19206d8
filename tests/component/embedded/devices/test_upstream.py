"""What we hold the device plugin API to is what Kubernetes says of it."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from tests.component.embedded.devices.conftest import PEERS
from tests.device_plugin_facts import FACTS, facts

from clusterup import binaries, errors

MODULE = "k8s.io/kubelet"
API = "pkg/apis/deviceplugin/v1beta1"


def test_the_facts_are_those_of_kubernetes(tmp_path: Path) -> None:
    [version] = [each.version for each in binaries.read_modules(PEERS)]
    try:
        go = binaries.find_go()
    except errors.Missing as reason:
        pytest.skip(str(reason))
    cache = subprocess.run(
        [go, "env", "GOMODCACHE"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = Path(cache, f"{MODULE}@{version}", API)
    if not (folder / "api.proto").is_file():
        pytest.skip(f"needs {MODULE} {version} in Go's module cache; to build a cluster fetches it")
    out = tmp_path / "api.pb"
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc"),
            *(f"--proto_path={folder}", f"--descriptor_set_out={out}", "api.proto"),
        ],
        check=True,
        timeout=60,
    )

    [theirs] = FileDescriptorSet.FromString(out.read_bytes()).file

    assert facts(theirs) == FACTS
