"""Parameters of one flag: `src:my.registry/image:tag,name:root,bootorder:1`."""

from collections.abc import Collection
from typing import NoReturn

from kubevirt.base.errors import QuantityError, UserError
from kubevirt.base.quantity import Quantity


class Parameters:
    """Those of one use of a flag, by name; each knows how to complain in the flag's name."""

    def __init__(self, flag: str, text: str, known: Collection[str]) -> None:
        self.flag = flag
        self._values: dict[str, str] = {}
        for part in text.split(","):
            name, colon, value = part.partition(":")
            if not colon or not value:
                self.refuse(f"{part!r} is not of the form NAME:VALUE")
            if name not in known:
                self.refuse(f"there is no parameter {name!r}; there are {', '.join(sorted(known))}")
            if name in self._values:
                self.refuse(f"{name} is there twice")
            self._values[name] = value

    def refuse(self, trouble: str) -> NoReturn:
        raise UserError(f"--{self.flag}: {trouble}", reason="Usage")

    def get(self, name: str) -> str:
        """Empty where it is not given."""
        return self._values.get(name, "")

    def need(self, name: str) -> str:
        return self.get(name) or self.refuse(f"{name} is missing")

    def several(self, name: str) -> list[str]:
        """Values of which each may have a comma's place taken by a semicolon."""
        return [each for each in self.get(name).split(";") if each]

    def boot_order(self) -> int | None:
        text = self.get("bootorder")
        if not text:
            return None
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            self.refuse("bootorder is a number from 1 on")
        return int(text)

    def size(self) -> str:
        """A quantity as it was written, or nothing."""
        text = self.get("size")
        return quantity(self.flag, text) if text else ""

    def place(self, name: str = "src") -> tuple[str, str]:
        """The namespace, or nothing, and the name: `lab/disk`."""
        namespace, _, name = self.need(name).rpartition("/")
        if "/" in namespace or not name:
            self.refuse("src is a name, or NAMESPACE/NAME")
        return namespace, name

    def local(self, what: str) -> str:
        """A name in the machine's own namespace."""
        namespace, name = self.place()
        if namespace:
            self.refuse(
                f"the {what} {name} is in the namespace of the machine; leave {namespace}/ out"
            )
        return name


def quantity(flag: str, text: str) -> str:
    try:
        Quantity.parse(text)
    except QuantityError as error:
        raise UserError(f"--{flag}: {error}", reason="Usage") from None
    return text


def prefixed(flag: str, text: str, kinds: Collection[str]) -> dict[str, str]:
    """A name with its kind before it, or without: the server knows which it is then."""
    kind, slash, name = text.rpartition("/")
    if slash and kind not in kinds:
        raise UserError(
            f"--{flag}: there is no kind {kind!r} here; there are {', '.join(kinds)}",
            reason="Usage",
        )
    if not name:
        raise UserError(f"--{flag}: the name is missing", reason="Usage")
    return {"kind": kind, "name": name} if slash else {"name": name}
