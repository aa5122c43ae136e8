# SPDX-License-Identifier: Apache-2.0
"""`firmware`: the board's firmware answers the functions that a domain lists, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .harness import MS, Run, boot, domain, write_system

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

INCREMENT = 0xC200_0001  # tests/firmware/psci.c
RUN_NS = 300 * MS


def called(directory: Path, firmware: list[Any], function: int) -> Run:
    guest = domain("guest", "firmware", 1, firmware=firmware, params={"function": function, "first": 41})
    other = domain("other", "firmware", 2, params={"function": function, "first": 41})
    return boot(write_system(directory, guest, other), directory / "run", for_ns=RUN_NS, boot="firmware")


@pytest.mark.parametrize("firmware", [[INCREMENT], [{"first": 0xC200_0000, "last": 0xC200_FFFF}]])
def test_d7_firmware_answers_who_may_call_it(firmware: list[Any], tmp_path: Path) -> None:
    run = called(tmp_path, firmware, INCREMENT)
    assert run.domain("guest")["report"] == {"answer": 42}
    assert run.domain("other")["report"] == {"answer": -1}, "it has no such list"


def test_d7_a_function_beside_the_list_is_refused(tmp_path: Path) -> None:
    run = called(tmp_path, [INCREMENT + 1], INCREMENT)
    assert run.domain("guest")["report"] == {"answer": -1}
