"""start, stop and the like: what they say, what they ask of the server, what they wait for, how they end."""

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.component.cli.conftest import Json, Place, Virtctl

import kubevirt
from kubevirt.cli import exit_codes

VM_VERBS = ("start", "stop", "restart")
VMI_VERBS = {"pause": "pause", "unpause": "unpause", "reset": "reset", "soft-reboot": "softreboot"}


@pytest.mark.parametrize("verb", VM_VERBS)
def test_a_machine_is_scheduled_to_do_it(place: Place, virtctl: Virtctl, verb: str) -> None:
    done = virtctl(verb, "testvm")
    assert (done.code, done.out, done.err) == (0, f"VM testvm was scheduled to {verb}\n", "")
    asked = place.virt_api.last(verb)
    assert (asked.method, asked.path) == ("PUT", place.below("vm", "testvm", verb))
    assert asked.body == {}
    assert asked.user == "kubernetes-admin"


@pytest.mark.parametrize(("verb", "subresource"), VMI_VERBS.items())
def test_an_instance_is_scheduled_to_do_it(
    place: Place, virtctl: Virtctl, verb: str, subresource: str
) -> None:
    words = ("vmi", "testvm") if verb in ("pause", "unpause") else ("testvm",)
    done = virtctl(verb, *words)
    assert (done.code, done.out) == (0, f"VMI testvm was scheduled to {verb}\n")
    assert place.virt_api.last(subresource).path == place.below("vmi", "testvm", subresource)


@pytest.mark.parametrize(
    ("words", "verb", "body"),
    [
        (["start", "testvm", "--paused"], "start", {"paused": True}),
        (["start", "testvm", "--paused=false"], "start", {}),
        (["stop", "testvm", "--grace-period", "7"], "stop", {"gracePeriod": 7}),
        (["stop", "testvm", "--force", "--grace-period=0"], "stop", {"gracePeriod": 0}),
        (
            ["restart", "testvm", "--force", "--grace-period=0"],
            "restart",
            {"gracePeriodSeconds": 0},
        ),
        (["pause", "vm/testvm"], "pause", {}),
    ],
)
def test_options_become_the_body(
    place: Place, virtctl: Virtctl, words: list[str], verb: str, body: object
) -> None:
    assert virtctl(*words).code == 0
    assert place.virt_api.last(verb).body == body


@pytest.mark.parametrize("verb", ["start", "stop", "restart", "pause", "unpause"])
def test_a_dry_run_says_so_and_asks_for_one(place: Place, virtctl: Virtctl, verb: str) -> None:
    words = ("vm", "testvm") if verb in VMI_VERBS else ("testvm",)
    done = virtctl(verb, *words, "--dry-run")
    kind = "VMI" if verb in VMI_VERBS else "VM"
    assert done.out == f"Dry Run execution\n{kind} testvm was scheduled to {verb}\n"
    assert place.virt_api.last(verb).body == {"dryRun": ["All"]}


def test_a_namespace_stands_in_the_target(place: Place, virtctl: Virtctl) -> None:
    assert virtctl("start", "vm/testvm/elsewhere").code == 0
    assert place.virt_api.last("start").path == "elsewhere/virtualmachines/testvm/start"


def test_json_is_one_object(virtctl: Virtctl, place: Place) -> None:
    done = virtctl("start", "testvm", "-o", "json")
    assert json.loads(done.out) == {
        "kind": "VirtualMachine",
        "namespace": place.namespace,
        "name": "testvm",
        "action": "start",
        "dryRun": False,
    }


def test_a_server_of_another_version_is_warned_of_beside_the_answer(
    place: Place, virtctl: Virtctl
) -> None:
    place.virt_api.tell("GET /version", {"gitVersion": "v1.6.0"})
    done = virtctl("start", "testvm")
    assert (done.code, done.out) == (0, "VM testvm was scheduled to start\n")
    assert done.err.count("the server is v1.6.0") == 1
    place.virt_api.refuse(f"PUT {place.below('vm', 'testvm', 'start')}", 409, "no", "Conflict")
    done = virtctl("start", "testvm")
    assert (done.code, done.out) == (exit_codes.CONFLICT, "")
    assert "the server is v1.6.0" in done.err


def test_a_server_of_our_version_is_nothing_to_speak_of(place: Place, virtctl: Virtctl) -> None:
    place.virt_api.tell("GET /version", {"gitVersion": f"v{kubevirt.__version__}"})
    assert virtctl("start", "testvm").err == ""


def test_who_wants_to_see_requests_does(place: Place, virtctl: Virtctl) -> None:
    done = virtctl("start", "testvm", "-v", "6")
    assert done.out == "VM testvm was scheduled to start\n"
    path = place.below("vm", "testvm", "start")
    assert re.search(rf"virtctl: PUT https://\S+/{path} 202 in \d+ ms\n", done.err)
    assert virtctl("start", "testvm", "-v=5").err == ""


@pytest.mark.parametrize(
    ("code", "reason", "message", "exit_code"),
    [
        (
            409,
            "Conflict",
            'Operation cannot be fulfilled on virtualmachine.kubevirt.io "testvm": VM is already running',
            exit_codes.CONFLICT,
        ),
        (404, "NotFound", 'virtualmachine.kubevirt.io "testvm" not found', exit_codes.NOT_FOUND),
        (401, "Unauthorized", "no rights on virtualmachines/start", exit_codes.NO_ACCESS),
        (403, "Forbidden", "not with that probe", exit_codes.NO_ACCESS),
        (400, "BadRequest", "gracePeriod has to be greater or equal to 0", exit_codes.FAILED),
        (500, "InternalError", "stop/start already underway", exit_codes.FAILED),
    ],
)
def test_a_refusal_is_in_the_servers_words_and_has_its_exit_code(
    place: Place, virtctl: Virtctl, code: int, reason: str, message: str, exit_code: int
) -> None:
    what = f"PUT {place.below('vm', 'testvm', 'start')}"
    place.virt_api.refuse(what, code, message, reason)
    done = virtctl("start", "testvm")
    assert (done.code, done.out, done.err) == (exit_code, "", f"virtctl: {message}\n")


@pytest.mark.parametrize(
    "words",
    [
        ["start", "vmi/testvm"],
        ["start", "Test_VM"],
        ["start", "vm/testvm/a/b"],
        ["pause", "testvm"],
        ["pause", "pod", "testvm"],
        ["stop", "testvm", "--force"],
        ["restart", "testvm", "--grace-period=0"],
        ["start", "../../secrets"],
        ["start"],
    ],
)
def test_a_wrong_line_asks_nobody(place: Place, virtctl: Virtctl, words: list[str]) -> None:
    before = len(place.virt_api.asked)
    done = virtctl(*words)
    assert (done.code, done.out) == (exit_codes.USAGE, "")
    assert done.err.startswith("virtctl: ")
    assert len(place.virt_api.asked) == before


def test_who_is_not_known_is_told_to_log_in(place: Place, virtctl: Virtctl) -> None:
    stranger = str(place.server.kubeconfig_with_token("nonsense"))
    done = virtctl("start", "testvm", "--kubeconfig", stranger, common=False)
    assert done.code == exit_codes.NO_ACCESS
    assert "does not let us in" in done.err


def test_flags_before_the_command_count_too(place: Place, virtctl: Virtctl) -> None:
    done = virtctl(*place.common, "start", "testvm", common=False)
    assert done.code == 0
    assert place.virt_api.last("start").path == place.below("vm", "testvm", "start")


def test_somebody_else_may_be_acted_as(
    place: Place, virtctl: Virtctl, users: Callable[[str], Path]
) -> None:
    assert virtctl("start", "testvm", "--as", "jo", "--as-group", "system:masters").code == 0
    assert place.virt_api.last("start").user == "jo"
    done = virtctl("start", "testvm", "--kubeconfig", str(users("jo")), "-n", "x", common=False)
    assert done.code == exit_codes.NO_ACCESS
    assert 'User "jo" cannot update resource "virtualmachines/start"' in done.err


# Waiting.


def later(work: Callable[[], object]) -> threading.Timer:
    """What a controller does, a moment after a command has been given."""
    timer = threading.Timer(0.5, work)
    timer.start()
    return timer


def test_start_waits_until_it_runs(place: Place, virtctl: Virtctl) -> None:
    place.machine()
    controller = later(lambda: place.tell_machine("testvm", "Running"))
    done = virtctl("start", "testvm", "--wait", "--timeout=60s")
    controller.join()
    assert done.out == "VM testvm was scheduled to start\nVM testvm is Running\n"
    assert done.code == 0


def test_stop_waits_until_it_has_stopped(place: Place, virtctl: Virtctl) -> None:
    place.machine(status="Running")
    controller = later(lambda: place.tell_machine("testvm", "Stopped"))
    done = virtctl("stop", "testvm", "--wait", "-o", "json")
    controller.join()
    assert json.loads(done.out)["status"] == "Stopped"


def test_restart_waits_for_another_instance(place: Place, virtctl: Virtctl) -> None:
    place.machine(status="Running")
    place.instance()

    def another() -> None:
        place.ask("DELETE", place.path("virtualmachineinstances", "testvm"))
        place.instance()

    controller = later(another)
    done = virtctl("restart", "testvm", "--wait", "--timeout=60s")
    controller.join()
    assert done.out == "VM testvm was scheduled to restart\nVM testvm is Running\n"


def test_pause_and_unpause_wait_for_the_condition(place: Place, virtctl: Virtctl) -> None:
    place.instance()
    paused = {"type": "Paused", "status": "True", "reason": "PausedByUser"}
    controller = later(lambda: place.tell_instance("testvm", {"conditions": [paused]}))
    assert "VMI testvm is Paused\n" in virtctl("pause", "vm", "testvm", "--wait").out
    controller.join()
    controller = later(lambda: place.tell_instance("testvm", {"conditions": []}))
    assert "VMI testvm is Running\n" in virtctl("unpause", "vm", "testvm", "--wait").out
    controller.join()


@pytest.mark.parametrize("verb", ["reset", "soft-reboot"])
def test_a_reboot_is_waited_for_until_the_guest_has_booted_anew(
    place: Place, virtctl: Virtctl, verb: str
) -> None:
    place.instance()
    place.tell_instance("testvm", {"conditions": [rebooted(1), AGENT]})
    steps = [[rebooted(1)], [rebooted(2)], [rebooted(2), AGENT]]
    told: list[float] = []

    def reboot() -> None:
        for conditions in steps:
            told.append(time.monotonic())
            place.tell_instance("testvm", {"conditions": conditions})

    controller = later(reboot)
    done = virtctl(verb, "testvm", "--wait", "--timeout=60s")
    ended = time.monotonic()
    controller.join()
    assert done.out == f"VMI testvm was scheduled to {verb}\nVMI testvm is Running\n"
    assert ended > told[-1]


def test_an_instance_that_runs_has_not_been_reset_for_that(place: Place, virtctl: Virtctl) -> None:
    place.instance()
    done = virtctl("reset", "testvm", "--wait", "--timeout=1s")
    assert done.code == exit_codes.TIMEOUT
    assert "VirtualMachineInstance testvm is not up again after 1 s: it is Running" in done.err


def test_a_guest_that_is_paused_has_booted_anew_as_far_as_it_can(
    place: Place, virtctl: Virtctl
) -> None:
    place.instance()
    paused = {"type": "Paused", "status": "True", "reason": "PausedByUser"}
    place.tell_instance("testvm", {"conditions": [paused, AGENT]})
    controller = later(lambda: place.tell_instance("testvm", {"conditions": [paused, rebooted(1)]}))
    assert "VMI testvm is Paused\n" in virtctl("reset", "testvm", "--wait").out
    controller.join()


def test_a_guest_that_powers_off_instead_is_not_waited_for(place: Place, virtctl: Virtctl) -> None:
    place.instance()
    controller = later(lambda: place.tell_instance("testvm", {"phase": "Succeeded"}))
    done = virtctl("soft-reboot", "testvm", "--wait")
    controller.join()
    assert done.code == exit_codes.FAILED
    assert "VMI testvm has ended instead of booting anew" in done.err


AGENT = {"type": "AgentConnected", "status": "True"}


def rebooted(times: int) -> Json:
    return {"type": "Rebooted", "status": "True", "message": f"times: {times}"}


def test_who_waits_in_vain_hears_how_it_is(place: Place, virtctl: Virtctl) -> None:
    place.machine()
    place.tell_machine("testvm", "ErrorUnschedulable")
    done = virtctl("start", "testvm", "--wait", "--timeout", "1s")
    assert done.code == exit_codes.TIMEOUT
    assert done.out == "VM testvm was scheduled to start\n"
    assert done.err == (
        "virtctl: VirtualMachine testvm is not Running after 1 s: it is ErrorUnschedulable\n"
    )


def test_a_machine_that_is_deleted_is_not_waited_for(place: Place, virtctl: Virtctl) -> None:
    place.machine()
    controller = later(lambda: place.ask("DELETE", place.path("virtualmachines", "testvm")))
    done = virtctl("start", "testvm", "--wait")
    controller.join()
    assert done.code == exit_codes.NOT_FOUND
