# SPDX-License-Identifier: Apache-2.0
"""What the hypervisor says about the SMMU: a page of its pool (`status_smmu` of schema/manifest.yaml).

`conclude` reads it at the end of a run, result.py puts it into the run's result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bulkhead.results.run import SmmuResult
from bulkhead.schema import Layout


@dataclass(frozen=True)
class SmmuStatus:
    refused: tuple[int, ...]  # accesses of each domain's devices, by index
    nobody: int
    other: int
    overflows: int
    global_errors: int
    interrupts: int
    unanswered: int

    def as_json(self) -> SmmuResult:
        return {
            "unowned_accesses": self.nobody,
            "failed_accesses": self.other,
            "overflows": self.overflows,
            "global_errors": self.global_errors,
            "interrupts": self.interrupts,
            "unanswered": self.unanswered,
        }


def read_smmu(
    layout: Layout, number: int, pool_frames: Sequence[int], bytes_at: Callable[[int], bytes | None]
) -> SmmuStatus | None:
    """Reads the SMMU's page, whose pool frame `number` the system's status states. None: there is none, or it
    could not be read."""
    page = bytes_at(pool_frames[number]) if 0 < number < len(pool_frames) else None
    if page is None:
        return None
    raw: dict[str, Any] = layout.unpack("status_smmu", page)
    return SmmuStatus(
        refused=tuple(int(one) for one in raw["refused"]),
        nobody=int(raw["nobody"]),
        other=int(raw["other"]),
        overflows=int(raw["overflows"]),
        global_errors=int(raw["global_errors"]),
        interrupts=int(raw["interrupts"]),
        unanswered=int(raw["unanswered"]),
    )
