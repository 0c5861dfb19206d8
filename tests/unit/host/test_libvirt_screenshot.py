"""From PPM to PNG, and what is no picture."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubevirt.base.errors import KubevirtError
from kubevirt.host.libvirt.errors import LibvirtError
from kubevirt.host.libvirt.screenshot import png_from

RED_AND_BLUE = b"\xff\x00\x00\x00\x00\xff"


def test_pixels_stay_what_they_were() -> None:
    png = png_from(b"P6\n2 2\n255\n" + RED_AND_BLUE * 2)
    assert struct.unpack_from(">II", png, 16) == (2, 2)
    (length,) = struct.unpack_from(">I", png, 33)
    rows = zlib.decompress(png[41 : 41 + length])
    assert rows == (b"\0" + RED_AND_BLUE) * 2


def test_a_comment_in_the_head_is_skipped() -> None:
    assert png_from(b"P6\n# by QEMU\n2 1\n255\n" + RED_AND_BLUE)


@pytest.mark.parametrize(
    ("ppm", "reason"),
    [
        (b"", "did not come as a picture"),
        (b"P5\n1 1\n255\nxxx", "did not come as a picture"),
        (b"P6\n2 2\n255\n" + RED_AND_BLUE, "is cut off"),
        (b"P6\n99999 1\n255\n", "too large"),
        (b"P6\n0 5\n255\n", "too large"),
        (b"P6\n999999999 1\n255\n", "did not come as a picture"),
    ],
)
def test_what_is_no_picture_is_refused(ppm: bytes, reason: str) -> None:
    with pytest.raises(LibvirtError, match=reason):
        png_from(ppm)


@given(st.binary(max_size=200))
def test_no_input_breaks_it(ppm: bytes) -> None:
    for data in (ppm, b"P6\n" + ppm):
        try:
            png_from(data)
        except KubevirtError:
            continue
