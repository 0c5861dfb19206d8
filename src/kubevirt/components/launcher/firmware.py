"""EFI images in a folder, by the names that distributions give them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubevirt.virt.convert.facts import EfiImages, FirmwareFacts

# Fedora's name first, then Debian's. Code and variables are a pair: their sizes must fit.
_PLAIN: Final = (
    ("OVMF_CODE.fd", "OVMF_VARS.fd"),
    ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"),
    ("AAVMF_CODE.fd", "AAVMF_VARS.fd"),
)
_SECURE: Final = (
    ("OVMF_CODE.secboot.fd", "OVMF_VARS.secboot.fd"),
    ("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd"),
)
_SEV: Final = (("OVMF_CODE.cc.fd", "OVMF_VARS.fd"),)
_SNP: Final = (("OVMF.amdsev.fd", None),)
_TDX: Final = (("OVMF.inteltdx.secboot.fd", None), ("OVMF.inteltdx.fd", None))


def firmware_in(folder: str | Path) -> FirmwareFacts:
    """What there is; a folder that is missing has nothing."""
    place = Path(folder)
    return FirmwareFacts(
        plain=_found(place, _PLAIN),
        secure=_found(place, _SECURE),
        sev=_found(place, _SEV),
        snp=_found(place, _SNP),
        tdx=_found(place, _TDX),
    )


def _found(folder: Path, names: Sequence[tuple[str, str | None]]) -> EfiImages | None:
    for code, variables in names:
        if (folder / code).is_file() and (variables is None or (folder / variables).is_file()):
            return EfiImages(
                code=str(folder / code), vars=str(folder / variables) if variables else None
            )
    return None
