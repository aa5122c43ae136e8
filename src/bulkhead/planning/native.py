# SPDX-License-Identifier: Apache-2.0
"""core/'s test of what budgets and copying ask of the memory together, compiled: builds the module when it is
out of date, and loads it.

It needs core/ and nothing else of the host build, so that this takes seconds, once. Rates are of both
directions together, in 1/`RATE_UNIT` bytes per s, utilizations in parts of `ONE` (core/memory_admission.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol, cast

from bulkhead.env.compiled import compiled_path, core_modules, load_compiled

MODULE = "_memory"

Point = tuple[int, int]  # bytes per s in each direction, utilization
Row = tuple[int, int, int]  # cores (0: any number), refills, bytes per s
Owner = tuple[int, int]  # rate, cores


class NativeCapacity(Protocol):
    """What the memory bears beside a broker."""

    def utilization(self, rate: int, cores: int) -> int:
        """Of an owner with so many cores."""

    def room(self, parts: Sequence[Owner], cores: int) -> int:
        """The largest rate of an owner more, beside these."""

    def broker_utilization(self) -> int: ...

    def broker_room(self, parts: Sequence[Owner]) -> tuple[int, bool]:
        """Bytes per s in each direction that these leave the broker; whether the table says so."""


class NativeMemoryAdmission(Protocol):
    """The module (bindings/memory/module.cpp). What is out of range is a ValueError."""

    RATE_UNIT: int
    RATE_MAX: int
    ONE: int

    def rate(self, events: int, event_bytes: int, holders: int, period_ns: int) -> int:
        """Of so many events of a period, of each holder; rounded up."""

    def events(self, rate: int, event_bytes: int, holders: int, period_ns: int) -> int:
        """The most events that are no more than a rate."""

    def sum_of(self, rates: Sequence[int]) -> int: ...

    def Capacity(  # noqa: N802
        self,
        *,
        curve: Sequence[Point],
        table: Sequence[Row],
        shortest_period_ns: int,
        event_bytes: int,
        broker: int,
        broker_full: int,
    ) -> NativeCapacity: ...


@cache
def memory() -> NativeMemoryAdmission:
    """Raises BuildFailed, or MissingTool where it cannot be built."""
    core_modules()
    path = compiled_path("bindings/memory", MODULE)
    return cast(
        "NativeMemoryAdmission",
        load_compiled(path, MODULE, "the compiled admission of budgets", "was not built"),
    )
