# SPDX-License-Identifier: Apache-2.0
"""Attached console: the keys after Ctrl-A, and that all other keys reach the guest."""

from __future__ import annotations

import pytest

from bulkhead.run.keys import KeyFilter, Typed


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        (b"ls -l\r\x03", b"ls -l\r\x03"),
        (b"\x01n", b"\x1dn"),
        (b"\x012", b"\x1d2"),
        (b"\x01\x01", b"\x01"),
        (b"\x01?a", b"a"),
        (b"\x1d", b"\x1d\x1d"),
    ],
)
def test_keys(typed: bytes, sent: bytes) -> None:
    assert KeyFilter().feed(typed) == Typed(sent)


def test_leaving_drops_what_follows() -> None:
    assert KeyFilter().feed(b"ab\x01xcd") == Typed(b"ab", leave=True)


def test_prefix_may_come_alone() -> None:
    keys = KeyFilter()
    assert keys.feed(b"\x01") == Typed(b"")
    assert keys.feed(b"x").leave
