"""Which try of a container a log or a command is about, and a kubelet's words where there is none."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node.endpoint import choosing
from kubevirt.embedded.node.endpoint.finding import Located
from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime.attempt import Attempt


def pod(**state: object) -> Pod:
    status = {"name": "a", "image": "", "imageID": "", "ready": False, "restartCount": 0}
    known = [{**status, "state": state}] if state else []
    return msgspec.convert(
        {
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"containers": [{"name": "a", "image": "x"}]},
            "status": {"containerStatuses": known},
        },
        Pod,
    )


RUNNING = pod(running={})
WAITING = pod(waiting={"reason": "CrashLoopBackOff"})
ENDED = pod(terminated={"exitCode": 0})
FIRST, SECOND = Attempt(Path("0")), Attempt(Path("1"))


@pytest.mark.parametrize(
    ("found", "is_previous", "chosen"),
    [
        (Located(pod=RUNNING, attempts=[FIRST]), False, FIRST),
        (Located(pod=RUNNING, attempts=[FIRST, SECOND]), False, SECOND),
        (Located(pod=RUNNING, attempts=[FIRST, SECOND]), True, FIRST),
        (Located(pod=WAITING, attempts=[FIRST, SECOND]), False, SECOND),
        (Located(pod=WAITING, attempts=[FIRST, SECOND]), True, SECOND),
        (Located(pod=ENDED, attempts=[FIRST, SECOND]), True, FIRST),
    ],
)
def test_a_log_is_of_one_try(found: Located, is_previous: bool, chosen: Attempt) -> None:  # noqa: FBT001
    assert choosing.for_log(found, "web", "a", is_previous=is_previous) is chosen


@pytest.mark.parametrize(
    ("found", "container", "is_previous", "code", "words"),
    [
        (None, "a", False, 404, 'pod "web" not found'),
        (Located(pod=RUNNING), "b", False, 404, 'container "b" not found in pod "web"'),
        (
            Located(pod=RUNNING, attempts=[FIRST]),
            "a",
            True,
            400,
            'previous terminated container "a" in pod "web" not found',
        ),
        (
            Located(pod=pod(waiting={"reason": "ContainerCreating"})),
            "a",
            False,
            400,
            'container "a" in pod "web" is waiting to start: ContainerCreating',
        ),
        (
            Located(pod=pod(waiting={"reason": "ErrImagePull"})),
            "a",
            False,
            400,
            'container "a" in pod "web" is waiting to start: image can\'t be pulled',
        ),
        (
            Located(pod=pod(waiting={"reason": "ImagePullBackOff"})),
            "a",
            False,
            400,
            'container "a" in pod "web" is waiting to start: trying and failing to pull image',
        ),
        (
            Located(pod=RUNNING),
            "a",
            False,
            400,
            'container "a" in pod "web" is waiting to start - no logs yet',
        ),
        (Located(pod=ENDED), "a", False, 400, 'container "a" in pod "web" is terminated'),
        (Located(pod=pod()), "a", False, 400, 'container "a" in pod "web" is not available'),
    ],
)
def test_a_log_that_is_not_there(
    found: Located | None,
    container: str,
    is_previous: bool,  # noqa: FBT001
    code: int,
    words: str,
) -> None:
    with pytest.raises(NotServed) as refused:
        choosing.for_log(found, "web", container, is_previous=is_previous)

    assert (refused.value.code, refused.value.message) == (code, words)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Attempt]:
    """As its keeper would have it."""
    fd = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    yield Attempt(tmp_path)
    os.close(fd)


def test_a_command_goes_to_the_one_that_runs(running: Attempt) -> None:
    assert choosing.for_command(Located(pod=RUNNING, attempts=[FIRST, running]), "a") is running


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        (None, 404, "pod does not exist"),
        (Located(pod=RUNNING), 500, 'container not found ("a")'),
        (Located(pod=RUNNING, attempts=[FIRST]), 500, 'container not found ("a")'),
    ],
)
def test_a_command_for_nobody(found: Located | None, code: int, words: str) -> None:
    with pytest.raises(NotServed) as refused:
        choosing.for_command(found, "a")

    assert (refused.value.code, refused.value.message) == (code, words)


LISTENING = msgspec.convert(
    {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"containers": [{"name": "a", "image": "x", "stdin": True, "tty": True}]},
    },
    Pod,
)


def test_whoever_comes_with_keys_is_told_that_there_is_no_terminal(running: Attempt) -> None:
    found = Located(pod=LISTENING, attempts=[running])
    with pytest.raises(NotServed, match="has no terminal here") as refused:
        choosing.for_attachment(found, "a", has_input=True)
    assert refused.value.code == 501

    assert choosing.for_attachment(found, "a", has_input=False) is running
    deaf = Located(pod=RUNNING, attempts=[running])
    assert choosing.for_attachment(deaf, "a", has_input=True) is running
