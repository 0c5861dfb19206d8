"""Images that cannot be had, and what a user reads of it."""

from tests.pods.objects import a_pod, phase, state_of, status_of, waits_for
from tests.pods.place import Place

NOWHERE = "registry.invalid/no/such-image:1"


async def test_an_image_that_cannot_be_pulled_is_backed_off_from(place: Place) -> None:
    await place.create(a_pod("hungry", container={"image": NOWHERE}))
    pod = await place.until_waiting("hungry", "ErrImagePull")
    assert NOWHERE in state_of(pod)["waiting"]["message"]
    assert phase(pod) == "Pending"
    await place.until_event("hungry", "Failed", f'Failed to pull image "{NOWHERE}"')
    await place.until_event("hungry", "Failed", "Error: ErrImagePull")
    pod = await place.until_waiting("hungry", "ImagePullBackOff")
    assert f'Back-off pulling image "{NOWHERE}"' in state_of(pod)["waiting"]["message"]
    await place.until_event("hungry", "BackOff", f'Back-off pulling image "{NOWHERE}"')
    shown = (await place.kubectl("get", "pod", "hungry", "--no-headers")).stdout
    assert shown.split()[2] in ("ImagePullBackOff", "ErrImagePull")


async def test_an_image_that_may_not_be_pulled_must_be_there(place: Place) -> None:
    container = {"image": NOWHERE, "imagePullPolicy": "Never"}
    await place.create(a_pod("frugal", container=container))
    pod = await place.until_waiting("frugal", "ErrImageNeverPull")
    expected = f'Container image "{NOWHERE}" is not present with pull policy of Never'
    assert state_of(pod)["waiting"]["message"] == expected
    await place.until_event("frugal", "ErrImageNeverPull", expected)


async def test_a_name_that_is_none_is_refused(place: Place) -> None:
    await place.create(a_pod("misspelt", container={"image": "No Name At All"}))
    pod = await place.until_waiting("misspelt", "InvalidImageName")
    assert "No Name At All" in state_of(pod)["waiting"]["message"]
    await place.until_event("misspelt", "InspectFailed")


async def test_an_image_that_is_there_is_not_pulled(place: Place) -> None:
    await place.run(a_pod("first"))
    await place.run(a_pod("second"))
    text = f'Container image "{place.home.image}" already present on machine'
    await place.until_event("second", "Pulled", text)


async def test_one_container_waits_for_its_image_while_the_other_runs(place: Place) -> None:
    good, bad = a_pod("x")["spec"]["containers"][0], {"name": "bad", "image": NOWHERE}
    await place.create(a_pod("half", containers=[good, bad]))
    pod = await place.until(
        "half", lambda pod: "running" in state_of(pod) and waits_for(pod, "bad") != "", "half up"
    )
    assert phase(pod) == "Pending"
    assert status_of(pod, "bad")["ready"] is False
