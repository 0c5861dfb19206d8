"""kubeconfig files: from a context to a `Config`, by kubectl's rules.

A context joins a cluster and a user. Each refusal names the file, the entry and what to do; the
format itself is in `kubeconfig_file.py`.
"""

import base64
import binascii
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import exec_plugin
from kubevirt.kube.access.config import Config, Impersonation
from kubevirt.kube.access.credentials import Credentials, HeldCredentials
from kubevirt.kube.access.exec_plugin import ExecCredentials, ExecPlugin
from kubevirt.kube.access.kubeconfig_file import (
    Cluster,
    Context,
    Exec,
    Found,
    Kubeconfig,
    User,
    read,
)
from kubevirt.kube.access.material import File, Inline, Material
from kubevirt.kube.access.proxies import proxy_for

E = TypeVar("E")

EXEC_EXTENSION = f"{exec_plugin.GROUP}/exec"
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
NAMES_SHOWN = 10


def default_paths(env: Mapping[str, str]) -> list[str]:
    """The files of KUBECONFIG, or the one in the user's home."""
    listed = [path for path in env.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [str(Path(env.get("HOME") or "/") / ".kube" / "config")]


def load(
    paths: Sequence[str | Path],
    env: Mapping[str, str],
    *,
    context: str | None = None,
    cluster: str | None = None,
    user: str | None = None,
) -> Config:
    """The configuration of one context, the current one unless named.

    `cluster` and `user` override the context's. `env` may name a proxy, and exec plugins inherit it.
    """
    files = read([Path(path).absolute() for path in paths])
    where, chosen = _chosen_context(files, context)
    cluster_name = cluster or chosen.entry.cluster
    user_name = user or chosen.entry.user
    found_cluster = _entry(files, files.clusters, "cluster", cluster_name, where)
    # A context without a user is one for a server that lets everybody in.
    found_user = (
        _entry(files, files.users, "user", user_name, where)
        if user_name
        else Found(User(), chosen.path)
    )
    named_cluster = f'cluster "{cluster_name}" in {found_cluster.path}'
    named_user = f'user "{user_name}" in {found_user.path}'
    config = _cluster_config(found_cluster, named_cluster)
    return replace(
        config,
        proxy_url=config.proxy_url or proxy_for(config.server, env),
        credentials=_credentials(found_user, named_user, config, found_cluster.entry, env),
        impersonate=_impersonation(found_user.entry, named_user),
        namespace=chosen.entry.namespace or "default",
        origin=where,
    )


def _chosen_context(files: Kubeconfig, name: str | None) -> tuple[str, Found[Context]]:
    name = name or files.current_context
    places = ", ".join(str(path) for path in files.paths)
    if not name:
        raise ConfigError(
            f"no context is chosen in {places}, which has {_names(files.contexts)};"
            " choose one with --context, or for good with: kubectl config use-context NAME"
        )
    found = files.contexts.get(name)
    if found is None:
        raise ConfigError(
            f'there is no context "{name}" in {places}, which has {_names(files.contexts)};'
            " choose one of these with --context"
        )
    return f'context "{name}" of {found.path}', found


def _entry(
    files: Kubeconfig, entries: Mapping[str, Found[E]], kind: str, name: str, where: str
) -> Found[E]:
    if name in entries:
        return entries[name]
    places = ", ".join(str(path) for path in files.paths)
    what = f'the {kind} "{name}"' if name else f"no {kind}"
    raise ConfigError(
        f"{where} names {what}, and {places} has {_names(entries)};"
        f" correct the context or add the {kind}"
    )


def _names(entries: Iterable[str]) -> str:
    names = sorted(entries)
    shown = ", ".join(names[:NAMES_SHOWN]) or "none"
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _cluster_config(found: Found[Cluster], named: str) -> Config:
    cluster = found.entry
    ca = _material(
        cluster.certificate_authority_data,
        cluster.certificate_authority,
        found.path,
        f"certificate authority of {named}",
    )
    if ca is not None and cluster.insecure_skip_tls_verify:
        raise ConfigError(
            f"the {named} has a certificate authority and insecure-skip-tls-verify;"
            " remove one of the two"
        )
    return Config(
        server=_server(
            cluster.server, named, tls=ca is not None or cluster.insecure_skip_tls_verify
        ),
        ca=ca,
        insecure_skip_tls_verify=cluster.insecure_skip_tls_verify,
        tls_server_name=cluster.tls_server_name,
        proxy_url=cluster.proxy_url,
        disable_compression=cluster.disable_compression,
        origin=named,
    )


def _server(server: str, named: str, *, tls: bool) -> str:
    if not server:
        raise ConfigError(f"the {named} names no server; add its address, https://HOST:PORT")
    if "://" not in server:
        server = f"{'https' if tls else 'http'}://{server}"
    return server.rstrip("/")


def _credentials(
    found: Found[User], named: str, config: Config, cluster: Cluster, env: Mapping[str, str]
) -> Credentials:
    user = found.entry
    if user.auth_provider is not None:
        raise ConfigError(
            f'the {named} uses the auth-provider "{user.auth_provider.name}", which Kubernetes'
            " removed; use an exec plugin of your provider instead"
        )
    held = _held(found, named)
    if user.exec is None or held.token is not None:
        return held
    return ExecCredentials(_plugin(user.exec, found.path, named, config, cluster, env), held=held)


def _held(found: Found[User], named: str) -> HeldCredentials:
    user, path = found.entry, found.path
    certificate = _material(
        user.client_certificate_data,
        user.client_certificate,
        path,
        f"client certificate of {named}",
    )
    key = _material(user.client_key_data, user.client_key, path, f"client key of {named}")
    if (certificate is None) != (key is None):
        missing = "client-certificate" if certificate is None else "client-key"
        raise ConfigError(f"the {named} has no {missing}; add it, or remove its counterpart")
    token: Material | None = None
    if user.token_file:
        token = File(path.parent / user.token_file, f"token of {named}, file")
    elif user.token:
        token = Inline(user.token.encode(), f"token of {named}")
    if token is not None and user.username:
        raise ConfigError(f"the {named} has a token and a password; remove one of the two")
    return HeldCredentials(
        token=token,
        certificate=certificate,
        key=key,
        username=user.username,
        password=user.password,
    )


def _material(data: str, file: str, kubeconfig: Path, what: str) -> Material | None:
    """Data that stands in the kubeconfig wins over a file it names, as in kubectl."""
    if data:
        try:
            return Inline(base64.b64decode("".join(data.split()), validate=True), what)
        except binascii.Error:
            raise ConfigError(
                f"the {what} is not base64; copy it again, whole and on one line"
            ) from None
    if file:
        return File(kubeconfig.parent / file, f"{what}, file")
    return None


def _plugin(
    plugin: Exec,
    kubeconfig: Path,
    named: str,
    config: Config,
    cluster: Cluster,
    env: Mapping[str, str],
) -> ExecPlugin:
    where = f"exec plugin {plugin.command} of {named}"
    if plugin.api_version not in exec_plugin.VERSIONS:
        raise ConfigError(
            f"the {where} has the apiVersion {plugin.api_version}, but only"
            f" {' and '.join(exec_plugin.VERSIONS)} are supported; update the plugin and its entry"
        )
    mode = plugin.interactive_mode
    if not mode and plugin.api_version == exec_plugin.VERSIONS[1]:
        mode = "IfAvailable"
    if mode not in INTERACTIVE_MODES:
        raise ConfigError(
            f'the {where} has the interactiveMode "{mode}"; set one of'
            f" {', '.join(INTERACTIVE_MODES)}"
        )
    return ExecPlugin(
        command=plugin.command,
        args=tuple(plugin.args or ()),
        env={**env, **{variable.name: variable.value for variable in plugin.env or ()}},
        api_version=plugin.api_version,
        interactive_mode=mode,
        install_hint=plugin.install_hint,
        folder=kubeconfig.parent,
        cluster=partial(_told, config, cluster) if plugin.provide_cluster_info else None,
        where=where,
    )


def _told(config: Config, cluster: Cluster) -> dict[str, Any]:
    """What a plugin learns of the cluster, when it asked for it."""
    settings = next(
        (each.extension for each in cluster.extensions or () if each.name == EXEC_EXTENSION), None
    )
    return exec_plugin.cluster_info(
        server=config.server,
        ca=config.ca.read() if config.ca else None,
        insecure_skip_tls_verify=config.insecure_skip_tls_verify,
        tls_server_name=config.tls_server_name,
        proxy_url=config.proxy_url,
        settings=settings,
    )


def _impersonation(user: User, named: str) -> Impersonation | None:
    if user.impersonate:
        return Impersonation(
            user=user.impersonate,
            uid=user.impersonate_uid,
            groups=tuple(user.impersonate_groups or ()),
            extra=user.impersonate_extra or {},
        )
    if user.impersonate_uid or user.impersonate_groups or user.impersonate_extra:
        raise ConfigError(
            f"the {named} impersonates a group, uid or extra without a user; add the field `as`"
        )
    return None
