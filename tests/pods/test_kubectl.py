"""What a user does first, with stock kubectl."""

from tests.pods.objects import GATE, POLITE, a_pod
from tests.pods.place import Place


def run(place: Place, name: str) -> tuple[str, ...]:
    image = f"--image={place.home.image}"
    return ("run", name, image, "--image-pull-policy=IfNotPresent", "--command")


async def test_run_wait_and_look(place: Place) -> None:
    await place.kubectl(*run(place, "first"), "--", "sh", "-c", POLITE)
    await place.kubectl("wait", "pod/first", "--for=condition=Ready", "--timeout=100s")
    shown = (await place.kubectl("get", "pods", "-o", "wide", "--no-headers")).stdout.split()
    assert shown[:4] == ["first", "1/1", "Running", "0"]
    assert shown[5] == (await place.pod("first"))["status"]["podIP"]
    assert shown[6] == place.home.node
    await place.kubectl("delete", "pod", "first", "--grace-period=1")


async def test_a_pod_is_watched_from_its_beginning_to_its_end(place: Place) -> None:
    await place.run(a_pod("before", POLITE))
    seen: list[str] = []
    async with place.kubectl_lines("get", "pods", "--watch", "--no-headers") as lines:
        async for line in lines:
            name, _, status, *_ = line.split()
            if name == "before":  # so it has begun
                await place.create(a_pod("brief", GATE, restartPolicy="Never"))
                continue
            if status == "Running" and status not in seen:
                await place.open_gate("brief")
            seen.append(status)
            if status == "Completed":
                break
    assert seen[0] == "Pending"
    assert seen.index("Running") < seen.index("Completed")


async def test_a_command_is_run_in_a_pod_of_its_own(place: Place) -> None:
    words = (*run(place, "once"), "--restart=Never", "--rm", "-i", "--", "sh", "-c")
    done = await place.kubectl(*words, "read -r line; echo you said $line", stdin="hello\n")
    assert "you said hello" in done.stdout
    assert not await place.is_there("once")
