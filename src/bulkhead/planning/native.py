# SPDX-License-Identifier: Apache-2.0
"""Core's test of the memory's load by budgets and copying, compiled: builds the module when it is out of
date, and loads it.

The module needs only core/ from the host build, so building it takes seconds, once. Rates are for both
directions together, in 1/`RATE_UNIT` bytes per s; utilizations are in parts of `ONE`
(core/memory_admission.h).
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
    """What the memory can serve in addition to a broker."""

    def utilization(self, rate: int, cores: int) -> int:
        """Utilization by an owner with so many cores."""

    def room(self, parts: Sequence[Owner], cores: int) -> int:
        """The largest rate of an additional owner with so many cores, besides `parts`."""

    def broker_utilization(self) -> int: ...

    def broker_room(self, parts: Sequence[Owner]) -> tuple[int, bool]:
        """Bytes per s in each direction that `parts` leave to the broker, and whether the table is the
        limit."""


class NativeMemoryAdmission(Protocol):
    """The module (bindings/memory/module.cpp). Values out of range raise ValueError."""

    RATE_UNIT: int
    RATE_MAX: int
    ONE: int

    def rate(self, events: int, event_bytes: int, holders: int, period_ns: int) -> int:
        """Rate of so many events in a period by each of `holders`; rounded up."""

    def events(self, rate: int, event_bytes: int, holders: int, period_ns: int) -> int:
        """The most events in a period whose rate is not above `rate`."""

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
    """The compiled module. Raises BuildFailed, or MissingTool if it cannot be built."""
    core_modules()
    path = compiled_path("bindings/memory", MODULE)
    return cast(
        "NativeMemoryAdmission",
        load_compiled(path, MODULE, "the compiled admission of budgets", "was not built"),
    )
