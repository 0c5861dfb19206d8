"""Access, as people ask for it: stock kubectl says the same of either server."""

from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.contract.conftest import People

from kubevirt.kube.client import Client


class Kubectl(People, Protocol):
    """A server with a kubectl beside it."""

    async def run_kubectl(
        self, *words: str, stdin: str = ..., kubeconfig: Path | None = ..., check: bool = ...
    ) -> Any: ...


@pytest.fixture
def eve(server: Kubectl) -> Path:
    return server.kubeconfig_for("eve", ["ops"])


async def test_can_i(server: Kubectl, eve: Path) -> None:
    words = ("auth", "can-i", "get", "pods")
    assert (await server.run_kubectl(*words)).stdout == "yes\n"
    refused = await server.run_kubectl(*words, kubeconfig=eve, check=False)
    assert (refused.code, refused.stdout) == (1, "no\n")
    assert (
        await server.run_kubectl("auth", "can-i", "get", "/version", kubeconfig=eve)
    ).stdout == ("yes\n")


async def test_what_can_i(server: Kubectl, eve: Path) -> None:
    told = await server.run_kubectl("auth", "can-i", "--list", "--no-headers", kubeconfig=eve)
    lines = {" ".join(line.split()) for line in told.stdout.splitlines()}
    assert lines == {
        "selfsubjectreviews.authentication.k8s.io [] [] [create]",
        "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
        "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
        *(
            f"[{path}] [] [get]"
            for path in (
                *("/api/*", "/api", "/apis/*", "/apis", "/healthz", "/livez", "/openapi/*"),
                *("/openapi", "/readyz", "/version/", "/version"),
            )
        ),
    }


async def test_who_am_i(server: Kubectl, eve: Path) -> None:
    told = await server.run_kubectl("auth", "whoami", kubeconfig=eve)
    lines = [" ".join(line.split()) for line in told.stdout.splitlines()]
    assert lines[:3] == ["ATTRIBUTE VALUE", "Username eve", "Groups [ops system:authenticated]"]


async def test_a_token_that_kubectl_asks_for_opens_the_door(
    server: Kubectl, client: Client, namespace: str
) -> None:
    await server.run_kubectl("create", "serviceaccount", "robot", "-n", namespace)
    told = await server.run_kubectl("create", "token", "robot", "-n", namespace)
    path = server.kubeconfig_with_token(told.stdout.strip())
    who = await server.run_kubectl("auth", "whoami", kubeconfig=path)
    assert f"system:serviceaccount:{namespace}:robot" in who.stdout
    await server.run_kubectl(
        *("create", "rolebinding", "robots", "--clusterrole=view", "-n", namespace),
        f"--serviceaccount={namespace}:robot",
    )
    words = ("auth", "can-i", "list", "pods", "-n", namespace)
    asked = f"--as=system:serviceaccount:{namespace}:robot"
    assert (await server.run_kubectl(*words, asked)).stdout == "yes\n"
