"""From flags and kubeconfig to the configuration of a client."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kubevirt.base.errors import ConfigError
from kubevirt.cli.access import Access
from kubevirt.kube.access import default_config, incluster, kubeconfig
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import File, Inline, Material


def configured(access: Access, env: Mapping[str, str]) -> Config:
    config = _found(access, env)
    return replace(config, **_server(access), **_person(access, config))


def _found(access: Access, env: Mapping[str, str]) -> Config:
    """What stands in files. With --server alone none is needed."""
    paths = [access.kubeconfig] if access.kubeconfig else kubeconfig.default_paths(env)
    if any(Path(path).exists() for path in paths) or access.kubeconfig:
        present = [path for path in paths if Path(path).exists()] or paths
        return kubeconfig.load(
            present,
            env,
            context=access.context or None,
            cluster=access.cluster or None,
            user=access.user or None,
        )
    if access.server and not (access.context or incluster.is_inside(env)):
        return Config(server=access.server, origin="the flag --server")
    return default_config.find(env, context=access.context or None)


def _server(access: Access) -> dict[str, Any]:
    if access.certificate_authority and access.insecure_skip_tls_verify:
        raise ConfigError(
            "--certificate-authority and --insecure-skip-tls-verify contradict each other; use one"
        )
    changed: dict[str, Any] = {}
    if access.server:
        changed["server"] = access.server.rstrip("/")
    if access.certificate_authority:
        changed["ca"] = _file(access.certificate_authority, "certificate authority")
    if access.insecure_skip_tls_verify:
        changed |= {"insecure_skip_tls_verify": True, "ca": None}
    for name in ("tls_server_name", "proxy_url", "disable_compression", "namespace"):
        if given := getattr(access, name):
            changed[name] = given
    return changed


def _person(access: Access, config: Config) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    if access.impersonate:
        changed["impersonate"] = Impersonation(
            user=access.impersonate, uid=access.impersonate_uid, groups=access.impersonate_groups
        )
    elif access.impersonate_uid or access.impersonate_groups:
        raise ConfigError("--as-group and --as-uid need to know whom you act as; add --as NAME")
    if held := _credentials(access):
        # The rest of what the kubeconfig holds stays, where both are of the same sort.
        known = config.credentials
        changed["credentials"] = (
            replace(known, **held)
            if isinstance(known, HeldCredentials)
            else HeldCredentials(**held)
        )
    return changed


def _credentials(access: Access) -> dict[str, Any]:
    if bool(access.client_certificate) != bool(access.client_key):
        raise ConfigError("--client-certificate and --client-key belong together; give both")
    held: dict[str, Any] = {}
    if access.token:
        token: Material = Inline(access.token.encode(), "token of --token")
        held |= {"token": token, "username": "", "password": ""}
    if access.username:
        held |= {"username": access.username, "password": access.password, "token": None}
    if access.client_certificate:
        held["certificate"] = _file(access.client_certificate, "client certificate")
        held["key"] = _file(access.client_key, "client key")
    return held


def _file(path: str, what: str) -> File:
    return File(Path(path).absolute(), f"{what}, file")
