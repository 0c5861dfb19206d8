"""Keys and passwords that come from secrets into a running guest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubevirt.cli.creating.draft import Draft, Json
from kubevirt.cli.creating.parameters import Parameters

FLAG: Final = "access-cred"
GUEST_AGENT: Final = "ga"
_METHODS: Final = {"nocloud": "noCloud", "configdrive": "configDrive"}


@dataclass(frozen=True, slots=True)
class Consequences:
    """What the credentials ask of the data for cloud-init."""

    agent_manages_ssh: bool = False
    data_source: str = ""
    """Which kind of it there has to be."""


def add(draft: Draft, given: Sequence[str], user: str, data_source: str) -> Consequences:
    """`user` is the machine's own; `data_source` is the kind that was chosen, if any was."""
    manages, needed = False, ""
    for text in given:
        found = Parameters(FLAG, text, ("method", "src", "type", "user"))
        kind = (found.get("type") or "ssh").lower()
        method = (found.get("method") or GUEST_AGENT).lower()
        if kind == "ssh" and method == GUEST_AGENT:
            draft.credentials.append(_by_agent(found, user))
            manages = True
        elif kind == "ssh" and method in _METHODS:
            draft.credentials.append(_by_cloud_init(found, method, data_source or needed))
            needed = method
        elif kind == "password" and method == GUEST_AGENT:
            draft.credentials.append(_password(found))
        elif kind in ("ssh", "password"):
            methods = (GUEST_AGENT, *_METHODS) if kind == "ssh" else (GUEST_AGENT,)
            found.refuse(f"the method for {kind} is {' or '.join(methods)}, not {method!r}")
        else:
            found.refuse(f"the type is ssh or password, not {kind!r}")
    return Consequences(agent_manages_ssh=manages, data_source=needed)


def _by_agent(found: Parameters, user: str) -> Json:
    whose = found.get("user") or user
    if not whose:
        found.refuse("the agent has to know whose keys they are; add user:NAME, or the flag --user")
    return _ssh(found, {"qemuGuestAgent": {"users": [whose]}})


def _by_cloud_init(found: Parameters, method: str, data_source: str) -> Json:
    _no_user(found)
    if data_source not in ("", method):
        found.refuse(f"method {method} needs --cloud-init {method}, and it is {data_source}")
    return _ssh(found, {_METHODS[method]: {}})


def _ssh(found: Parameters, method: Json) -> Json:
    secret = {"secret": {"secretName": found.local("secret")}}
    return {"sshPublicKey": {"source": secret, "propagationMethod": method}}


def _password(found: Parameters) -> Json:
    _no_user(found)
    secret = {"secret": {"secretName": found.local("secret")}}
    return {"userPassword": {"source": secret, "propagationMethod": {"qemuGuestAgent": {}}}}


def _no_user(found: Parameters) -> None:
    if found.get("user"):
        found.refuse("a user is named only for ssh keys that the agent writes")
