"""Who is let in, and what is said to those who are not; servers that go away and come back."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest
from tests.contract.conftest import Mortal, People, Server, config_of
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from clusterup.certificates import Validity
from kubevirt.base.errors import Unreachable
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden, Unauthorized, Untrusted


async def ask(config: Config) -> None:
    async with Client(config) as client:
        await client.get(CONFIG_MAPS, "kube-root-ca.crt", "default")


async def test_a_user_without_rights_is_told_who_may_not_do_what(people: People) -> None:
    with pytest.raises(Forbidden, match='User "ann" cannot get resource "configmaps"'):
        await ask(config_of(people.kubeconfig_for("ann")))


async def test_an_expired_certificate_is_named_with_its_day(people: People) -> None:
    expired = Validity.expired()
    path = people.kubeconfig_for("ann", validity=expired)
    with pytest.raises(Unauthorized) as caught:
        await ask(config_of(path))
    assert f"expired on {expired.end:%Y-%m-%d}" in str(caught.value)
    assert str(path) in str(caught.value)


async def test_a_service_account_is_let_in_by_its_token(people: People, namespace: str) -> None:
    token = await people.service_account_token(namespace, "default")
    config = config_of(people.kubeconfig_with_token(token))
    with pytest.raises(Forbidden, match=f"system:serviceaccount:{namespace}:default"):
        await ask(config)


async def test_a_wrong_token_is_refused_and_not_shown(people: People) -> None:
    with pytest.raises(Unauthorized, match="does not accept the credentials") as caught:
        await ask(config_of(people.kubeconfig_with_token("s3cr3t")))
    assert "s3cr3t" not in str(caught.value)


async def test_an_administrator_can_act_as_another(server: Server) -> None:
    admin = config_of(server.kubeconfig)
    await ask(admin)
    bob = Impersonation(user="bob", groups=("ops",), extra={"example.org/why": ["test"]})
    with pytest.raises(Forbidden, match='User "bob" cannot get'):
        await ask(replace(admin, impersonate=bob))
    group = Impersonation(user="bob", groups=("system:masters",))
    await ask(replace(admin, impersonate=group))


async def test_a_server_signed_by_another_authority_is_not_trusted(server: Server) -> None:
    config = config_of(server.kubeconfig)
    with pytest.raises(Untrusted, match="not signed by an authority that we trust"):
        await ask(replace(config, ca=None, credentials=HeldCredentials()))


async def test_a_name_can_be_given_for_the_certificate(server: Server) -> None:
    config = config_of(server.kubeconfig)
    await ask(replace(config, tls_server_name="kubernetes.default.svc"))
    with pytest.raises(Untrusted, match="is for another name"):
        await ask(replace(config, tls_server_name="elsewhere.example"))


async def test_a_client_outlives_its_server(mortal: Mortal) -> None:
    async with Client(config_of(mortal.kubeconfig)) as client:
        made = await client.create(CONFIG_MAPS, a_config_map("one"), "default")
        version = made["metadata"]["resourceVersion"]
        async with aclosing(
            client.watch(CONFIG_MAPS, "default", resource_version=version)
        ) as events:
            next_event = asyncio.ensure_future(anext(events))
            await client.create(CONFIG_MAPS, a_config_map("two"), "default")
            await next_event
            await mortal.kill_apiserver()
            with pytest.raises(Unreachable):
                await anext(events)
        with pytest.raises(Unreachable, match="refuses connections"):
            await client.get(CONFIG_MAPS, "one", "default")
        await mortal.start_apiserver()
        found = await client.get(CONFIG_MAPS, "one", "default")
        assert found["metadata"]["uid"] == made["metadata"]["uid"]
