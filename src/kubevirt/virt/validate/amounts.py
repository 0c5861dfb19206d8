"""Quantities of a manifest: read once, with a cause where the text is none."""

from kubevirt.base.errors import QuantityError
from kubevirt.base.quantity import Quantity
from kubevirt.virt.validate.causes import Causes, invalid, plain


def amount(value: str | int | None) -> Quantity | None:
    """The number, or None if there is none or it cannot be read; `unreadable` says which."""
    if value is None:
        return None
    try:
        return Quantity.from_json(value)
    except QuantityError:
        return None


def unreadable(field: str, value: str | int | None) -> Causes:
    if value is None:
        return
    try:
        Quantity.from_json(value)
    except QuantityError as error:
        yield invalid(field, f"{field} '{plain(value)}': {error}")
