# SPDX-License-Identifier: Apache-2.0
"""Compressed files of distributions are decompressed unchanged; a damaged one gives an error and nothing
else."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bulkhead.images.unpack import UnpackError, is_packed, unpacked, zboot_payload

PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress, zstandard.compress]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_bomb_is_not_blown_up(pack: Callable[[bytes], bytes]) -> None:
    assert unpacked(pack(bytes(1 << 20)), 1 << 20) == bytes(1 << 20)
    with pytest.raises(UnpackError, match="more than 1048576 bytes"):
        unpacked(pack(bytes((1 << 20) + 1)), 1 << 20)


@given(st.binary(max_size=200), st.sampled_from(PACKERS), st.integers(0, 220), st.integers(0, 255))
def test_damage_is_an_error_or_does_not_matter(
    plain: bytes, pack: Callable[[bytes], bytes], at: int, value: int
) -> None:
    packed = bytearray(pack(plain))
    packed[at % len(packed)] = value
    try:
        unpacked(bytes(packed), 1 << 16)
    except UnpackError as error:
        assert "is packed with" in str(error)


@given(st.binary(max_size=100))
def test_what_is_not_packed_stays_as_it_is(content: bytes) -> None:
    if not is_packed(content):
        assert unpacked(content, 10) == content
    if content[:2] != b"MZ":
        assert zboot_payload(content) is None
