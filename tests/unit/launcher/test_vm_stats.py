"""GetVMStats: what the agent has told, in its own spelling; what is not known is refused in words, one by one."""

import json

from kubevirt.components.launcher.guest_agent import Knowledge
from kubevirt.components.launcher.vm_stats import NO_AGENT, NO_DIRTY_RATE, NOT_YET, vm_stats
from kubevirt.host.libvirt.agent_answers import (
    AgentInfo,
    GuestAddress,
    GuestInterface,
    GuestOs,
    GuestTimezone,
    GuestUser,
)
from kubevirt.rpc.messages import cmd_pb2 as cmd

KNOWN = Knowledge(
    info=AgentInfo(version="7.2"),
    os=GuestOs(id="cirros", kernel_release="6.1"),
    hostname="web",
    timezone=GuestTimezone(zone="CET", offset=3600),
    users=(GuestUser(user="cirros", login_time=1.5),),
    interfaces=(GuestInterface(name="eth0", ip_addresses=(GuestAddress(ip_address="10.0.2.2"),)),),
)


def asked(known: Knowledge | None, *names: str) -> cmd.VMStatsResponse:
    request = cmd.VMStatsRequest()
    for name in names:
        getattr(request, name).SetInParent()
    return vm_stats(request, known)


def test_what_the_agent_has_told_is_passed_on_as_the_agent_says_it() -> None:
    told = {
        "guestGetUsers": [{"user": "cirros", "domain": "", "login-time": 1.5}],
        "guestGetHostName": {"host-name": "web"},
        "guestGetTimezone": {"zone": "CET", "offset": 3600},
    }
    answer = asked(KNOWN, *told, "guestGetOsInfo", "guestNetworkGetInterfaces")
    for name, value in told.items():
        assert json.loads(getattr(answer, name).message) == value
    assert json.loads(answer.guestGetOsInfo.message)["kernel-release"] == "6.1"
    (card,) = json.loads(answer.guestNetworkGetInterfaces.message)
    assert card["ip-addresses"][0]["ip-address"] == "10.0.2.2"
    assert answer.guestAgentVersion.message == "7.2"
    assert answer.response.success


def test_only_what_was_asked_for_is_answered() -> None:
    assert [field.name for field, _ in asked(KNOWN).ListFields()] == ["response"]
    answer = asked(KNOWN, "guestGetUsers")
    assert {field.name for field, _ in answer.ListFields()} == {
        "response",
        "guestAgentVersion",
        "guestGetUsers",
    }


def test_what_is_not_known_is_refused_in_words_and_the_rest_is_answered() -> None:
    answer = asked(KNOWN, "dirtyRate", "guestGetLoad", "guestGetUsers")
    assert not answer.dirtyRateStats.response.success
    assert answer.dirtyRateStats.response.message == NO_DIRTY_RATE
    assert not answer.guestGetLoad.success
    assert (
        answer.guestGetLoad.message == "this launcher does not ask a guest's agent for guestGetLoad"
    )
    assert answer.guestGetUsers.success


def test_without_an_agent_or_before_it_has_told_that_is_said() -> None:
    assert asked(None, "guestGetUsers").guestGetUsers.message == NO_AGENT
    answer = asked(Knowledge(), "guestGetOsInfo")
    assert (answer.guestGetOsInfo.success, answer.guestGetOsInfo.message) == (False, NOT_YET)
    assert answer.guestAgentVersion.message == NOT_YET
