"""Programs run in a container from outside: exec, cp, attach."""

from pathlib import Path

import pytest
from tests.pods.objects import WAIT, a_container, a_pod
from tests.pods.place import Place

from kubevirt.kube.errors import ApiError, BadRequest


async def test_a_program_ends_with_its_exit_code(place: Place) -> None:
    await place.run(a_pod("host"))
    done = await place.kubectl(
        "exec", "host", "--", "sh", "-c", "echo out; echo err >&2; exit 42", check=False
    )
    assert done.code == 42
    assert done.stdout == "out\n"
    assert "err\n" in done.stderr
    assert (await place.try_sh("host", "exit 3"))[0] == 3


async def test_a_program_reads_what_it_is_sent(place: Place) -> None:
    await place.run(a_pod("host"))
    sent = "".join(f"line {n}\n" for n in range(1000))
    assert (await place.kubectl("exec", "-i", "host", "--", "cat", stdin=sent)).stdout == sent


async def test_a_program_may_have_a_terminal_of_a_size(place: Place) -> None:
    await place.run(a_pod("host"))
    words = [
        "/bin/sh",
        "-c",
        "until stty size | grep -q '^45 123'; do sleep 0.1; done; tty; stty size",
    ]
    async with place.client.exec("host", place.namespace, words, tty=True) as process:
        await process.resize(columns=123, rows=45)
        said = b"".join([data async for _, data in process.output()])
    assert b"45 123" in said
    assert b"/dev/pts/" in said


async def test_a_program_is_run_in_the_container_that_is_named(place: Place) -> None:
    containers = [
        a_container(name, WAIT, env=[{"name": "ME", "value": name}], workingDir="/proc")
        for name in ("one", "two")
    ]
    await place.run(a_pod("pair", containers=containers))
    for name in ("one", "two"):
        assert await place.sh("pair", "echo $ME; pwd", name) == f"{name}\n/proc\n"
    with pytest.raises(BadRequest, match="container three is not valid"):
        await place.sh("pair", "true", "three")


async def test_a_program_has_the_user_and_the_rights_of_the_container(place: Place) -> None:
    context = {"runAsUser": 1001, "runAsGroup": 2002, "supplementalGroups": [3003]}
    rights = {"capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False}
    container = {"securityContext": rights}
    await place.run(a_pod("tame", securityContext=context, container=container))
    assert await place.sh("tame", "id -u; id -g") == "1001\n2002\n"
    assert "3003" in (await place.sh("tame", "id -G")).split()
    inside = await place.sh("tame", "grep -E '^(CapBnd|NoNewPrivs)' /proc/self/status")
    assert inside.split() == ["CapBnd:", "0" * 16, "NoNewPrivs:", "1"]


async def test_a_program_that_is_not_there_is_an_error(place: Place) -> None:
    await place.run(a_pod("host"))
    with pytest.raises(ApiError, match="no-such-program"):
        async with place.client.exec("host", place.namespace, ["no-such-program"]) as process:
            await process.exit_code()


async def test_nothing_can_be_run_in_a_container_that_has_ended(place: Place) -> None:
    await place.finish(a_pod("gone", "exit 0"))
    done = await place.kubectl("exec", "gone", "--", "true", check=False)
    assert done.code == 1
    assert "cannot exec into a container in a completed pod" in done.stderr


async def test_a_program_goes_with_its_container_and_not_before(place: Place) -> None:
    await place.run(a_pod("host"))
    await place.sh("host", "sleep 300 >/dev/null 2>&1 & echo $! >/tmp/pid")
    assert await place.sh("host", "kill -0 $(cat /tmp/pid) && echo lives") == "lives\n"


async def test_files_are_copied_in_and_out(place: Place, tmp_path: Path) -> None:
    await place.run(a_pod("host"))
    there = tmp_path / "there"
    there.mkdir()
    (there / "note").write_text("hello\n")
    (there / "big").write_bytes(bytes(range(256)) * 4096)
    await place.kubectl("cp", str(there), "host:/tmp/here")
    assert await place.sh("host", "cat /tmp/here/note") == "hello\n"
    await place.kubectl("cp", "host:/tmp/here", str(tmp_path / "back"))
    assert (tmp_path / "back" / "big").read_bytes() == (there / "big").read_bytes()


async def test_one_attaches_to_what_the_container_says(place: Place) -> None:
    script = "n=0; until [ -e /tmp/open ]; do echo $n; sleep 0.1; n=$((n + 1)); done; echo last"
    await place.create(a_pod("talker", script, restartPolicy="Never"))
    await place.until_running("talker")
    said: list[str] = []
    async with place.kubectl_lines("attach", "talker") as lines:
        async for line in lines:
            said.append(line)
            if len(said) == 3:
                await place.open_gate("talker")
    first = int(said[0])
    assert said == [*map(str, range(first, first + len(said) - 1)), "last"]


async def test_one_speaks_to_the_containers_own_program(place: Place) -> None:
    script = "read -r line; echo you said $line; sleep 1"
    pod = a_pod("listener", script, container={"stdin": True, "stdinOnce": True})
    pod["spec"]["restartPolicy"] = "Never"
    await place.create(pod)
    await place.until_running("listener")
    said = await place.kubectl("attach", "-i", "listener", stdin="hello\n")
    assert "you said hello" in said.stdout
    await place.until_ended("listener")
    assert await place.log("listener") == "you said hello\n"
