"""Events of a machine, in KubeVirt's words."""

from kubevirt.virt.happening import Happening


def started(name: str) -> Happening:
    return Happening(
        "SuccessfulCreate",
        f"Started the virtual machine by creating the new virtual machine instance {name}",
    )


def not_started(name: str, why: str) -> Happening:
    text = f"Error creating virtual machine instance {name}: {why}"
    return Happening("FailedCreate", text, is_warning=True)


def stopped(name: str) -> Happening:
    return Happening(
        "SuccessfulDelete",
        f"Stopped the virtual machine by deleting the virtual machine instance {name}",
    )


def not_stopped(name: str, why: str) -> Happening:
    text = f"Error deleting virtual machine instance {name}: {why}"
    return Happening("FailedDelete", text, is_warning=True)
