"""Kubeconfig files with everything inside, so that one file can be carried elsewhere."""

import base64
from pathlib import Path
from typing import Any

import yaml

from clusterup import certificates


def with_certificate(
    path: Path, *, server: str, authority: bytes, client: certificates.Pair
) -> Path:
    """Write a kubeconfig whose user shows a client certificate."""
    user = {
        "client-certificate-data": _encode(client.certificate),
        "client-key-data": _encode(client.key),
    }
    return _write(path, server, authority, user)


def with_token(path: Path, *, server: str, authority: bytes, token: str) -> Path:
    """Write a kubeconfig whose user shows a bearer token."""
    return _write(path, server, authority, {"token": token})


def _write(path: Path, server: str, authority: bytes, user: dict[str, str]) -> Path:
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "cluster-up",
                "cluster": {"server": server, "certificate-authority-data": _encode(authority)},
            }
        ],
        "users": [{"name": path.stem, "user": user}],
        "contexts": [
            {"name": "cluster-up", "context": {"cluster": "cluster-up", "user": path.stem}}
        ],
        "current-context": "cluster-up",
    }
    certificates.write_secret(path, yaml.safe_dump(content, sort_keys=False).encode())
    return path


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()
