"""A machine's whole story, told by a user with stock kubectl and virtctl."""

from tests.e2e.vms.objects import a_vm
from tests.e2e.vms.place import Place


async def test_a_machine_that_is_started_lets_its_user_log_in(place: Place) -> None:
    await place.create(a_vm())
    await place.until_status("testvm", "Stopped")
    assert place.virtctl("start", "testvm", "--wait").code == 0
    with place.console("testvm") as guest:
        guest.log_in()
        assert guest.run("uname") == "Linux"
