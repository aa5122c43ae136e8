# SPDX-License-Identifier: Apache-2.0
"""Result of `size`."""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from bulkhead.results.envelope import CLOSED, Envelope


@with_config(CLOSED)
class FlowSizesResult(TypedDict):
    """What flows take, in bytes."""

    broker: dict[str, int]
    """Sections of the broker's program."""
    bytes_at_el2: dict[str, int]
    """Structures at EL2, by what each is for."""
    bytes_in_broker: dict[str, int]
    """Structures in the broker, by what each is for."""


@with_config(CLOSED)
class SizeResult(Envelope):
    """Size of the hypervisor."""

    programs: dict[str, dict[str, dict[str, int]]]
    """Bytes by board, program and section: `text`, `rodata`, `data` and `bss`."""
    flows: FlowSizesResult
    """What flows take."""
    sloc: dict[str, int]
    """Source lines by directory, without blank lines and comments; `total` is their sum."""
